// Tests that runs reuse fits of earlier runs if everything that the fits depend on is equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

// Returns a grid with two values of C and the values `gammas` of gamma, and with three folds.
std::string grown_grid(const std::string& gammas, const std::string& more = "", int limit = 200,
                       const std::string& select = "error") {
  return "name = \"g\"\nmodel = \"svc\"\nseed = 4\ndevices.use = \"host\"\ndata = { source = \"digits\", limit = " +
         std::to_string(limit) +
         ", standardize = { mean = 127.5, scale = 255 } }\nvalidation.folds = 3\n"
         "search = { method = \"grid\", select = \"" +
         select + "\", params = { C = [0.1, 1], gamma = " + gammas + " } }\n" + more;
}

std::string small_net(const std::string& rates, const std::string& select = "error") {
  return "name = \"g\"\nmodel = \"cnn\"\nseed = 4\ndevices.use = \"host\"\n"
         "data = { source = \"digits\", limit = 200, standardize = { mean = 127.5, scale = 255 } }\n"
         "validation.folds = 2\nsearch = { method = \"grid\", select = \"" +
         select + "\", params = { rate = " + rates +
         " } }\nmodel_options = { epochs = 1, optimizer = { type = \"sgd\", lr = \"$rate\" }, " +
         "layers = [{ type = \"flatten\" }, { type = \"linear\", out_features = 10 }] }\n";
}

class Reuse : public testing::Test {
 protected:
  fs::path run(const std::string& experiment, const std::string& arguments = "") {
    place_.write("e.toml", experiment);
    const std::vector<fs::path> before = runs();
    ended_ = place_.mokume("run e.toml " + arguments);
    EXPECT_EQ(ended_.code, 0) << ended_.err;
    for (const fs::path& one : runs())
      if (std::find(before.begin(), before.end(), one) == before.end()) return one;
    ADD_FAILURE() << "no new run: " << ended_.err;
    return {};
  }
  bool said(const std::string& text) const { return ended_.err.find(text) != std::string::npos; }
  static int64_t reused(const fs::path& run) { return json::parse(slurp(run / "summary.json")).value("reused", 0); }

  Place place_;
  Ended ended_;

 private:
  std::vector<fs::path> runs() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(place_.path() / "runs/g", error)) found.push_back(entry.path());
    return found;
  }
};

TEST_F(Reuse, AGrownGridComputesOnlyWhatIsNew) {
  const fs::path first = run(grown_grid("[0.001, 0.01]"));
  const fs::path grown = run(grown_grid("[0.0001, 0.001, 0.01]"));
  EXPECT_TRUE(said("taking over 12 of 18 fits from ")) << ended_.err;
  EXPECT_EQ(reused(grown), 12);
  const fs::path anew = run(grown_grid("[0.0001, 0.001, 0.01]"), "--fresh");
  EXPECT_EQ(reused(anew), 0);
  EXPECT_EQ(slurp(grown / "results.csv"), slurp(anew / "results.csv"));
  EXPECT_EQ(slurp(grown / "candidates.csv"), slurp(anew / "candidates.csv"));
  EXPECT_NE(slurp(grown / "report.html").find("12 fits taken over from"), std::string::npos);
  EXPECT_NE(place_.mokume("explain " + grown.string() + " 3").out.find("taken over from"), std::string::npos);
}

TEST_F(Reuse, AnotherMetricSelectsAmongTheSameFits) {
  run(grown_grid("[0.001, 0.01]", "validation.score = [\"f1\", \"auc\"]\n"));
  const fs::path other = run(grown_grid("[0.001, 0.01]", "", 200, "f1"));
  EXPECT_EQ(reused(other), 12);
  const fs::path anew = run(grown_grid("[0.001, 0.01]", "", 200, "f1"), "--fresh");
  EXPECT_EQ(slurp(other / "results.csv"), slurp(anew / "results.csv"));
}

TEST_F(Reuse, AMeasureThatTheEarlierRunLacksIsComputed) {
  run(grown_grid("[0.001]"));
  EXPECT_EQ(reused(run(grown_grid("[0.001]", "validation.score = [\"f1\"]\n"))), 0);
}

TEST_F(Reuse, OtherDataFoldsOrSettingsAreOtherFits) {
  run(grown_grid("[0.001]"));
  EXPECT_EQ(reused(run(grown_grid("[0.001]", "", 201))), 0);
  EXPECT_EQ(reused(run(grown_grid("[0.001]"), "--set seed=5")), 0) << "other folds";
  EXPECT_EQ(reused(run(grown_grid("[0.001]"), "--set model_options.multiclass=ovo")), 0);
}

TEST_F(Reuse, StrictNumericsAreOtherFits) {
  run(grown_grid("[0.001]"));
  const fs::path strict = run(grown_grid("[0.001]"), "--set devices.numerics=strict");
  EXPECT_EQ(reused(strict), 0);
  for (const auto& [device_class, choices] : json::parse(slurp(strict / "run.json"))["choices"].items())
    EXPECT_EQ(choices["numerics"], "strict") << device_class;
}

TEST_F(Reuse, RandomNumbersDependOnThePlaceInThePlan) {
  run(small_net("[0.1, 0.01]"));
  EXPECT_EQ(reused(run(small_net("[0.1, 0.01]", "loss"))), 4);
  EXPECT_EQ(reused(run(small_net("[0.01, 0.1]"))), 0);
}

TEST_F(Reuse, MoreCandidatesOfANetworkFollowAfterThoseThatAreThere) {
  run(small_net("[0.1, 0.01]"));
  const fs::path grown = run(small_net("[0.1, 0.01, 0.001]"));
  EXPECT_EQ(reused(grown), 4);
  const fs::path anew = run(small_net("[0.1, 0.01, 0.001]"), "--fresh");
  EXPECT_EQ(slurp(grown / "results.csv"), slurp(anew / "results.csv"));
}

TEST_F(Reuse, RepeatsAfterTheFirstDependOnTheNumberOfCandidates) {
  const std::string repeated = "validation.repeats = 2\n";
  run(small_net("[0.1, 0.01]"));
  EXPECT_EQ(reused(run(repeated + small_net("[0.1, 0.01]"))), 4) << "the first repeat is the earlier validation";
  const fs::path grown = run(repeated + small_net("[0.1, 0.01, 0.001]"));
  EXPECT_EQ(reused(grown), 4);
  const fs::path anew = run(repeated + small_net("[0.1, 0.01, 0.001]"), "--fresh");
  EXPECT_EQ(slurp(grown / "results.csv"), slurp(anew / "results.csv"));
}

TEST_F(Reuse, ADamagedRunOffersNothing) {
  const fs::path first = run(grown_grid("[0.001]"));
  std::ofstream(first / "journal/node-0000.ndjson") << "{}\n{}\n";
  EXPECT_EQ(reused(run(grown_grid("[0.001, 0.01]"))), 0);
}

}  // namespace
}  // namespace mokume::cli_test
