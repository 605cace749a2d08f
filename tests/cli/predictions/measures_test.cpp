// Tests measures in addition to the error, as columns of results.csv, as criteria for the best candidate, and on the
// test set. Also tests calibrated probabilities.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

constexpr const char* kMeasuredData = R"(name = "m"
devices.use = "host"
data = { source = "digits", limit = 300, standardize = { mean = 127.5, scale = 255 } }
)";
constexpr const char* kMeasuredSvc = R"(model = "svc"
search.method = "grid"
search.params = { C = [0.001, 1], gamma = [0.0001, 0.01] }
)";
constexpr const char* kMeasuredNet = R"(model = "cnn"
[model_options]
epochs = 5
optimizer = { type = "sgd", lr = 0.02 }
layers = [{ type = "flatten" }, { type = "linear", out_features = 10 }]
)";

class Measures : public testing::Test {
 protected:
  Ended run(const std::string& experiment) {
    place_.write("e.toml", kMeasuredData + experiment);
    return place_.mokume("run e.toml");
  }
  // Returns the rows of a table of the run. Each row maps the names of the columns to their cells.
  std::vector<std::map<std::string, std::string>> table(const std::string& name) const {
    std::istringstream text(slurp(place_.run("m") / name));
    const auto cells = [](const std::string& line) {
      std::vector<std::string> all;
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) all.push_back(cell);
      return all;
    };
    std::string line;
    std::getline(text, line);
    const std::vector<std::string> names = cells(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(text, line)) {
      const std::vector<std::string> row = cells(line);
      for (size_t c = 0; c < row.size(); ++c) (c == 0 ? rows.emplace_back() : rows.back())[names.at(c)] = row[c];
    }
    return rows;
  }
  json test_result() const { return json::parse(slurp(place_.run("m") / "summary.json"))["test"]; }

  Place place_;
};

TEST_F(Measures, AreColumnsAndTheLargestMeanWins) {
  const Ended ended =
      run(std::string("search.select = \"f1\"\nvalidation = { folds = 3, score = [\"auc\"] }\n") + kMeasuredSvc);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("cross-validation f1: "), std::string::npos) << ended.err;
  const auto fits = table("results.csv");
  ASSERT_EQ(fits.size(), 12U);
  for (const auto& fit : fits) {
    EXPECT_GT(std::stod(fit.at("auc")), std::stod(fit.at("f1")));
    EXPECT_LE(std::stod(fit.at("auc")), 1);
  }
  const auto candidates = table("candidates.csv");
  const auto best =
      std::find_if(candidates.begin(), candidates.end(), [](const auto& c) { return c.at("rank") == "1"; });
  for (const auto& one : candidates) EXPECT_GE(std::stod(best->at("mean")), std::stod(one.at("mean")));
  EXPECT_EQ(json::parse(slurp(place_.run("m") / "summary.json"))["best"]["candidate"],
            std::stoi(best->at("candidate")));
}

// The loss of the network is the log loss of its probabilities, computed on the device.
TEST_F(Measures, OfANetworkAgreeWithItsOwnMetrics) {
  const Ended ended =
      run(std::string("validation = { folds = 3, score = [\"log_loss\", \"recall\", \"balanced_error\"] }\n") +
          kMeasuredNet);
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const auto& fit : table("results.csv")) {
    EXPECT_NEAR(std::stod(fit.at("log_loss")), std::stod(fit.at("loss")), 1e-4);
    EXPECT_NEAR(std::stod(fit.at("recall")), 1 - std::stod(fit.at("balanced_error")), 1e-12);
  }
}

TEST_F(Measures, OfTheTestRowsAreInSummaryAndReport) {
  ASSERT_EQ(run(std::string("validation.folds = 0\n") + kMeasuredNet).code, 0);
  const json test = test_result();
  int64_t rows = 0, hits = 0;
  for (size_t c = 0; c < 10; ++c) {
    for (const json& count : test["confusion"][c]) rows += count.get<int64_t>();
    hits += test["confusion"][c][c].get<int64_t>();
    EXPECT_EQ(test["classes"][c]["class"], std::to_string(c));
  }
  EXPECT_EQ(rows, test["n"]);
  EXPECT_EQ(rows - hits, test["errors"]);
  for (const char* measure : {"balanced_error", "precision", "recall", "f1", "auc", "log_loss"})
    EXPECT_TRUE(test[measure].is_number()) << measure;
  const std::string page = slurp(place_.run("m") / "report.html");
  EXPECT_NE(page.find("Errors by class"), std::string::npos);
  EXPECT_NE(page.find("Confusion matrix"), std::string::npos);
  EXPECT_TRUE(fs::exists(place_.run("m") / "plots/confusion.svg"));
}

TEST_F(Measures, ThatTheModelCannotHaveAreRefused) {
  const auto refuse = [&](const std::string& more, const std::string& said) {
    const Ended ended = run(more);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  };
  refuse(std::string("validation.score = [\"log_loss\"]\n") + kMeasuredSvc,
         "needs probabilities, which the model 'svc'");
  refuse(std::string("validation.score = [\"f2\"]\n") + kMeasuredSvc, "validation.score is one of: balanced_error");
  refuse(std::string("validation = { folds = 0, score = [\"f1\"] }\n") + kMeasuredNet, "there is no validation");
  refuse(std::string("search.select = \"accuracy\"\n") + kMeasuredSvc, "balanced_error");
  refuse(std::string("validation.calibrate = true\n") + kMeasuredNet, "gives probabilities of its own");
}

TEST_F(Measures, DecisionValuesBecomeProbabilities) {
  for (const char* multiclass : {"ovr", "ovo"}) {
    const Ended ended = run("validation = { folds = 3, calibrate = true }\nmodel_options.multiclass = \"" +
                            std::string(multiclass) + "\"\n" + kMeasuredSvc);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const fs::path run = place_.run("m");
    ASSERT_TRUE(test_result()["log_loss"].is_number()) << test_result() << ended.err;
    EXPECT_LT(test_result()["log_loss"].get<double>(), 1);
    const Ended said =
        place_.mokume("predict " + run.string() + " --json --devices host --data digits,test=own,limit=20");
    ASSERT_EQ(said.code, 0) << said.err;
    std::istringstream lines(said.out);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      double sum = 0;
      const json row = json::parse(line);
      for (const auto& [name, p] : row.items()) {
        if (!name.starts_with("probability")) continue;
        EXPECT_GT(p.get<double>(), 0) << line;
        EXPECT_LT(p.get<double>(), 1) << line;
        sum += p.get<double>();
      }
      EXPECT_NEAR(sum, 1, 1e-5) << line;
    }
    EXPECT_GT(count, 0U);
    fs::remove_all(run);
  }
}

TEST_F(Measures, ADamagedCalibrationIsNamed) {
  ASSERT_EQ(run(std::string("validation = { folds = 3, calibrate = true }\n") + kMeasuredSvc).code, 0);
  const fs::path run = place_.run("m"), file = run / "models/best/calibration.json";
  place_.write("runs/m/" + run.filename().string() + "/models/best/calibration.json", "{}");
  const Ended said = place_.mokume("predict " + run.string() + " --devices host --data digits,test=own,limit=20");
  EXPECT_EQ(said.code, 3);
  EXPECT_NE(said.err.find("calibration.json is damaged"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace mokume::cli_test
