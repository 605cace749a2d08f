// Tests [devices] precision, which lets devices round the operands of products.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

constexpr const char* kConvolutions = R"(name = "p"
model = "cnn"
seed = 3
data = { source = "digits", limit = 200, standardize = { mean = 127.5, scale = 73.61 } }
validation = { share = 0.25 }
search = { method = "none" }
[model_options]
epochs = 2
batch_size = 25
layers = [
  { type = "conv2d", out_channels = 4, kernel_size = 3 }, { type = "relu" }, { type = "flatten" },
  { type = "linear", out_features = 10 } ]
)";

// Returns the precision of the run's only device class.
std::string precision_of(const fs::path& run) {
  const json choices = json::parse(slurp(run / "run.json"))["choices"];
  return choices.size() == 1 ? choices.begin()->at("precision").get<std::string>() : "no single class";
}

TEST(Precision, TheHostRoundsOperandsAndTheRunSaysSo) {
  const Place place;
  place.write("e.toml", kConvolutions);
  const auto run = [&](const std::string& precision, const std::string& name) {
    const Ended ended =
        place.mokume("run e.toml --devices host --set devices.precision=" + precision + " --set name=" + name);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(precision_of(place.run(name)), precision);
    return ended.err;
  };
  EXPECT_EQ(run("fp32", "exact").find("operands of products"), std::string::npos);
  EXPECT_NE(run("bf16", "rounded").find("operands of products in bf16 on host"), std::string::npos);
  run("bf16", "again");
  EXPECT_NE(slurp(place.run("rounded") / "results.csv"), slurp(place.run("exact") / "results.csv"));
  EXPECT_EQ(slurp(place.run("rounded") / "results.csv"), slurp(place.run("again") / "results.csv"));

  // Another precision is another plan, and takes no fits of an earlier run.
  const Ended other = place.mokume("run e.toml --devices host --set devices.precision=tf32 --set name=exact");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(other.err.find("copied"), std::string::npos) << other.err;
}

TEST(Precision, ADeviceWithoutMatrixUnitsComputesInFp32) {
  const Place place;
  place.write("e.toml", kConvolutions);
  const Ended ended = place.mokume("run e.toml --devices pocl --set devices.precision=tf32");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("computes in fp32, not in tf32: it has no matrix units"), std::string::npos) << ended.err;
  EXPECT_EQ(precision_of(place.run("p")), "fp32");
}

TEST(Precision, IsForModelsThatBearIt) {
  const Place place;
  place.write("e.toml",
              "name = \"s\"\nmodel = \"svc\"\nseed = 1\ndata = { source = \"digits\", limit = 50 }\n"
              "search = { method = \"none\" }\nvalidation = { folds = 2 }\ndevices.precision = \"bf16\"\n");
  const Ended ended = place.mokume("run e.toml --devices host");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("devices.precision is 'bf16', but the model 'svc' needs exact operands"), std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test
