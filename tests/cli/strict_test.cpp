// Tests that runs with strict numerics leave the same files on all devices.
#include <gtest/gtest.h>

#include <string>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

constexpr char kStrictSvm[] =
    "name = \"strict\"\nmodel = \"svc\"\ndata = { source = \"digits\", limit = 600 }\nvalidation = { folds = 3, "
    "calibrate = true, score = [\"auc\", \"f1\"] }\n"
    "search = { method = \"grid\", params = { C = [0.1, 10], gamma = [0.001, 0.01] } }\n"
    "devices.numerics = \"strict\"\n";

// Returns the files of a run and of its model, and predictions, which do not depend on times and names of devices.
std::string files_of_run(const Place& place, const std::string& device, const std::string& environment) {
  const std::string mokume = environment + " " + Place::program();
  const Ended run =
      place.shell(mokume + " run e.toml --fresh --out r --devices " + device + " >&2 && cd r/strict/*/ && " +
                  "sha256sum results.csv candidates.csv out_of_fold.csv models/best/* && " + mokume +
                  " predict . --data digits,limit=100 --devices " + device + "; code=$?; rm -r ../../../r; exit $code");
  EXPECT_EQ(run.code, 0) << run.err;
  return run.out;
}

TEST(Strict, RunsLeaveTheSameFilesOnAllDevices) {
  const Place place;
  place.write("e.toml", kStrictSvm);
  const std::string expected = files_of_run(place, "host", "MOKUME_ISA=base");
  EXPECT_NE(expected.find("models/best/manifest.json"), std::string::npos) << expected;
  EXPECT_NE(expected.find("probability_0"), std::string::npos) << expected;
  EXPECT_EQ(files_of_run(place, "host", ""), expected) << "the host's widest instruction set";
  if (place.mokume("devices").out.find("opencl:0") == std::string::npos) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(files_of_run(place, "opencl:0", ""), expected) << "opencl";
}

}  // namespace
}  // namespace mokume::cli_test
