// Tests nested cross-validation, which trains without each outer fold and tests on its rows.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/sealed.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

std::string nested_experiment(const std::string& validation) {
  return "name = \"n\"\nmodel = \"svc\"\nseed = 2\ndevices.use = \"host\"\n"
         "data = { source = \"digits\", limit = 200, standardize = \"features\" }\nvalidation = { folds = 3, " +
         validation + " }\nsearch = { method = \"grid\", params = { C = [0.1, 1], gamma = [0.001, 0.01] } }\n";
}

json summary_of(const fs::path& run) { return json::parse(slurp(run / "summary.json")); }

TEST(Nested, EstimatesTheErrorOfTheTunedModel) {
  const Place place;
  place.write("e.toml", nested_experiment("outer = 3"));
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("nested cross-validation: error "), std::string::npos) << ended.err;
  const fs::path run = place.run("n");
  const json nested = summary_of(run)["nested"];
  int64_t rows = 0;
  double errors = 0;
  for (int fold = 1; fold <= 3; ++fold) {
    const fs::path folds = run / "outer" / ("fold-" + std::to_string(fold));
    const json one = summary_of(fs::directory_iterator(folds)->path());
    EXPECT_EQ(one["data"]["rows"].get<int64_t>() + one["data"]["test_rows"].get<int64_t>(), 200);
    EXPECT_EQ(nested["each"][fold - 1]["error"], one["test"]["error"]);
    rows += one["test"]["n"].get<int64_t>();
    errors += one["test"]["errors"].get<double>();
  }
  EXPECT_EQ(rows, 200);
  EXPECT_NEAR(nested["error"].get<double>(), errors / 200, 1e-12);
  EXPECT_NE(slurp(run / "report.html").find("Nested cross-validation"), std::string::npos);
  EXPECT_NE(slurp(run / "report.html").find("Nested, error"), std::string::npos);
  int64_t confused = 0, right = 0;
  for (size_t truth = 0; truth < 10; ++truth)
    for (size_t predicted = 0; predicted < 10; ++predicted) {
      const int64_t count = nested["confusion"][truth][predicted].get<int64_t>();
      confused += count;
      right += truth == predicted ? count : 0;
    }
  EXPECT_EQ(confused, 200);
  EXPECT_EQ(200 - right, nested["errors"].get<int64_t>());

  const Ended again = place.mokume("run e.toml");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(summary_of(run)["nested"], nested) << "nothing was computed again";
}

TEST(Nested, TheEstimateIsInTheMetricThatSelects) {
  const Place place;
  place.write("e.toml", nested_experiment("outer = 2"));
  const Ended ended = place.mokume("run e.toml --set search.select=balanced_error");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("nested cross-validation: balanced_error "), std::string::npos) << ended.err;
  const json nested = summary_of(place.run("n"))["nested"];
  EXPECT_EQ(nested["metric"], "balanced_error");
  double recalls = 0;
  for (const json& one : nested["classes"]) recalls += one["recall"].get<double>();
  EXPECT_NEAR(nested["balanced_error"].get<double>(), 1 - recalls / 10, 1e-12);
}

TEST(Nested, AFileThatContradictsItselfIsNamed) {
  const Place place;
  place.write("e.toml", nested_experiment("outer = 2"));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path run = place.run("n");
  const auto refused = [&](const std::string& each) {
    std::ofstream(run / "nested.json") << base::seal("{\"folds\":2,\"each\":[" + each + "]}");
    const Ended ended = place.mokume("report " + run.string());
    EXPECT_EQ(ended.code, 3) << each << ended.err;
    EXPECT_NE(ended.err.find("nested.json is damaged"), std::string::npos) << ended.err;
  };
  const std::string fold = "{\"fold\":1,\"best\":\"\",\"validation\":0.1,\"n\":10,\"errors\":";
  refused(fold + "1}," + fold + "1}");
  refused(fold + "11}");
  refused(fold + "0,\"mse\":0.5}");
  refused(fold + "1,\"measures\":{\"n\":3}}");
}

TEST(Nested, OuterFoldsCanBeAddedToAFinishedRunOrRunAlone) {
  const Place place;
  place.write("e.toml", nested_experiment("outer = 2"));
  ASSERT_EQ(place.mokume("run e.toml --set validation='{ folds = 3 }'").code, 0);
  const Ended added = place.mokume("run e.toml");
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(summary_of(place.run("n"))["nested"]["each"].size(), 2U);
  const Ended alone = place.mokume("run e.toml --set name=alone --set validation.outer_fold=2");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(summary_of(place.run("alone"))["test"]["error"], summary_of(place.run("n"))["nested"]["each"][1]["error"]);
}

TEST(Nested, WhatCannotBeNestedIsRefused) {
  const Place place;
  const auto refuse = [&](const std::string& validation, const std::string& said) {
    place.write("e.toml", nested_experiment(validation));
    const Ended ended = place.mokume("check e.toml");
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  };
  refuse("outer = 3, outer_fold = 4", "there is no outer fold 4 of 3");
  refuse("outer_fold = 1", "there is no outer fold 1 of 0");
  refuse("outer = 3, ordered = true", "outer folds");
}

}  // namespace
}  // namespace mokume::cli_test
