// Tests that the prediction of a few rows loads only what it needs.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Returns the shared libraries that the loader opened during a command.
std::string loaded_by(const Place& place, const std::string& arguments) {
  const Ended ended = place.shell("LD_DEBUG=files " + Place::program() + " " + arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.err;
}

TEST(FewRows, AreAnsweredByTheHostUnlessTheCommandNamesDevices) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const std::string predict = "predict " + place.run("small").string() + " --data digits,limit=";
  for (const char* few : {"10", "334"}) {
    const std::string loaded = loaded_by(place, predict + few);
    EXPECT_NE(loaded.find("backends/host.so"), std::string::npos);
    for (const char* needless : {"backends/opencl.so", "pocl", "libLLVM", "plugins/cnn.so", "libmpi"})
      EXPECT_EQ(loaded.find(needless), std::string::npos) << needless;
  }
  EXPECT_NE(loaded_by(place, predict + "335").find("backends/opencl.so"), std::string::npos) << "335 * 784 > 2^18";
  EXPECT_NE(loaded_by(place, predict + "10 --devices all").find("backends/opencl.so"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cli_test
