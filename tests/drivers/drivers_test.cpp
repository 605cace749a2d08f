// Tests the messages to the user about drivers that cannot be used.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Runs the program with the driver `library` alone, and with its own cache.
Ended with_driver(const Place& place, const std::string& library, const std::string& command) {
  place.write("driver.icd", library + "\n");
  const std::string here = place.path().string();
  return place.shell("OCL_ICD_VENDORS=" + here + "/driver.icd XDG_CACHE_HOME=" + here + "/cache " + Place::program() +
                     " " + command);
}

TEST(Drivers, ADriverThatNeedsANewerLibraryIsLeftOutWithCauseAndCure) {
  const Place place;
  const std::string directory = test::build_directory() + "/tests/drivers/driver";
  const Ended ended = with_driver(place, directory + "/libneeds_newer_tbb.so", "devices");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.find("opencl:"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("works alone, but not with the libraries that mokume has loaded ("), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("undefined symbol: function_of_a_newer_tbb"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("start mokume with " + directory + " first in LD_LIBRARY_PATH"), std::string::npos)
      << ended.err;
}

TEST(Drivers, ACompilerThatFailsIsQuoted) {
  const Place sound, place;
  if (with_driver(sound, "libpocl.so.2", "devices").out.find("Portable Computing Language") == std::string::npos)
    GTEST_SKIP() << "no PoCL";
  setenv("POCL_EXTRA_BUILD_FLAGS", "-Drounded=7", 1);
  const Ended ended = with_driver(place, "libpocl.so.2", "devices");
  unsetenv("POCL_EXTRA_BUILD_FLAGS");
  EXPECT_NE(ended.err.find("cannot build and run a kernel (clBuildProgram says: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("error: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << ended.err;
}

TEST(Drivers, ADriverThatIsNotInstalledIsNamedOnlyByDoctor) {
  const Place place;
  const std::string absent = "/nowhere/libdriver.so";
  for (const char* time : {"probed", "remembered"}) EXPECT_EQ(with_driver(place, absent, "devices").err, "") << time;
  const Ended doctor = with_driver(place, absent, "doctor");
  EXPECT_NE(doctor.err.find("driver " + absent), std::string::npos) << doctor.err;
  EXPECT_NE(doctor.err.find("cannot open shared object file"), std::string::npos) << doctor.err;
  EXPECT_NE(doctor.err.find("install the package it belongs to, or remove "), std::string::npos) << doctor.err;
}

}  // namespace
}  // namespace mokume::cli_test
