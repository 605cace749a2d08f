// Tests runs with every kind of validation and target, with the model `mean` of this folder.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

// The mean of the targets is 5.5; the test rows are 1.5 and 0.5 away from it.
constexpr const char* kTrain = "a,y\n1,5.0\n2,6.0\n3,5.5\n4,5.25\n5,5.75\n6,5.5\n7,5.0\n8,6.0\n";
constexpr const char* kTest = "a,y\n1,7.0\n2,5.0\n";

std::string experiment(const std::string& data, const std::string& more) {
  return std::string("name = \"k\"\nmodel = \"mean\"\nplugins.directories = [\"") + test_library() +
         "\"]\ndevices.use = \"host\"\ndata = { " + data + " }\n" + more;
}

constexpr const char* kCsv = R"(source = "csv", path = "./train.csv", test = "./test.csv")";

class Kinds : public testing::Test {
 protected:
  Kinds() {
    place.write("train.csv", kTrain);
    place.write("test.csv", kTest);
    setenv("MOKUME_PLUGIN_PATH", test_library().c_str(), 1);  // readers of a run ignore the directories that it names
  }
  ~Kinds() override { unsetenv("MOKUME_PLUGIN_PATH"); }
  Ended run(const std::string& data, const std::string& more, const std::string& arguments = "") {
    place.write("e.toml", experiment(data, more));
    return place.mokume("run e.toml " + arguments);
  }
  json summary() const { return json::parse(slurp(place.run("k") / "summary.json")); }
  std::string file(const char* name) const { return slurp(place.run("k") / name); }

  Place place;
};

TEST_F(Kinds, InvalidReportsOfAModelAreNoResults) {
  const Ended nan = run(kCsv, "validation.folds = 2\nmodel_options.reports = \"nan\"\n");
  EXPECT_EQ(nan.code, 5) << nan.err;
  EXPECT_EQ(file("results.csv"), "candidate,bootstrap,fold,n,mse,status\n0,0,0,4,,failed\n0,0,1,4,,failed\n");
  EXPECT_NE(file("journal/node-0000.ndjson").find("its mse is nan: the training diverged"), std::string::npos);
  fs::remove_all(place.path() / "runs");
  const Ended none = run(kCsv, "validation.folds = 2\nmodel_options.reports = \"no rows\"\n");
  EXPECT_EQ(none.code, 4) << none.err;
  EXPECT_NE(none.err.find("'n' is 0, and every fit validates at least one row"), std::string::npos) << none.err;
  EXPECT_EQ(file("journal/node-0000.ndjson").find("\"n\":0"), std::string::npos);
}

TEST_F(Kinds, RegressionIsMeasuredAndPredicted) {
  const Ended ended = run(kCsv, "validation.folds = 2\n[search]\nmethod = \"grid\"\n[search.params]\nshift = [1, 0]\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("best candidate: shift = 0\ncross-validation mse: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("test mse: 1.25 (2 rows)"), std::string::npos) << ended.err;
  EXPECT_EQ(file("results.csv").substr(0, 44), "candidate,bootstrap,fold,shift,n,mse,status\n");
  EXPECT_EQ(summary()["test"], (json{{"n", 2}, {"mse", 1.25}}));
  EXPECT_EQ(summary()["best"]["candidate"], 1);
  EXPECT_NE(file("report.html").find("Test MSE"), std::string::npos);

  const std::string path = place.run("k").string();
  const Ended with = place.mokume("predict " + path + " --data csv:./test.csv --devices host");
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(with.out, "row,predicted,target\n0,5.5,7\n1,5.5,5\n");
  place.write("bare.csv", "a\n3\n");
  const Ended without = place.mokume("predict " + path + " --data csv:./bare.csv --devices host");
  EXPECT_EQ(without.out, "row,predicted\n0,5.5\n") << without.err;
  EXPECT_EQ(place.mokume("report " + path).code, 0);
}

TEST_F(Kinds, RowsToPredictAreReadLikeThoseOfTheRun) {
  place.write("train.csv", "y,town,a\n1.5,rome,2\n2.5,oslo,\n3.5,rome,4\n4.5,oslo,5\n");
  const Ended ended =
      run(R"(source = "csv", path = "./train.csv", target = "y", categorical = ["town"], missing = "mean")",
          "validation.folds = 2\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string predict = "predict " + place.run("k").string() + " --devices host --data ";
  place.write("new.csv", "a,town\n,rome\n7,oslo\n");
  const Ended bare = place.mokume(predict + "csv:./new.csv");
  EXPECT_EQ(bare.out, "row,predicted\n0,3\n1,3\n") << bare.err;
  EXPECT_EQ(place.mokume(predict + "csv:./new.csv,missing=error").code, 3);
  EXPECT_EQ(place.mokume(predict + "csv:./train.csv,test=./new.csv").out, bare.out) << "the test file's rows";
}

TEST_F(Kinds, GapsInRowsToPredictAreFilledEvenIfTheRunHadNone) {
  place.write("train.csv", "y,a\n1.5,2\n2.5,3\n3.5,4\n4.5,5\n");
  ASSERT_EQ(run(R"(source = "csv", path = "./train.csv", target = "y")", "validation.folds = 2\n").code, 0);
  const json columns = json::parse(file("run.json"))["data"]["columns"];
  EXPECT_EQ(columns[0]["fill"], 3.5) << columns;
  place.write("new.csv", "a,y\n1,4.0\n2,\n");
  const Ended some = place.mokume("predict " + place.run("k").string() + " --devices host --data csv:./new.csv");
  EXPECT_EQ(some.out, "row,predicted,target\n0,3,4\n1,3,\n") << some.err;
  EXPECT_NE(some.err.find("mse: 1 of 1"), std::string::npos) << some.err;
}

TEST_F(Kinds, ClassNamesAreQuotedAndUnlabelledRowsAreNotErrors) {
  place.write("train.csv",
              "a,b,y\n1,0,\"yes, maybe\"\n2,0,no\n1,1,\"yes, maybe\"\n2,1,no\n1,2,\"yes, maybe\"\n2,2,no\n");
  place.write("svc.toml",
              "name = \"q\"\nmodel = \"svc\"\ndevices.use = \"host\"\nvalidation.folds = 2\n"
              "data = { source = \"csv\", path = \"./train.csv\", missing = \"drop\" }\n");
  const Ended ended = place.mokume("run svc.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string predict = "predict " + place.run("q").string() + " --devices host --data ";
  place.write("new.csv", "a,b,y\n1,0,no\n1,1,\n2,0,other\n");
  const Ended some = place.mokume(predict + "csv:./new.csv");
  const auto lines = lines_of(some.out);
  ASSERT_EQ(lines.size(), 4U) << some.out << some.err;
  EXPECT_EQ(lines[0], "row,predicted,label,\"decision_no_vs_yes, maybe\"");
  EXPECT_TRUE(lines[1].starts_with("0,\"yes, maybe\",no,-")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("1,\"yes, maybe\",,-")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("2,no,,") && !lines[3].starts_with("2,no,,-")) << lines[3];
  EXPECT_NE(some.err.find("errors: 2 of 2"), std::string::npos) << "nobody says what the second is: " << some.err;
  place.write("new.csv", "a,b,y\n1,0,\n");
  EXPECT_EQ(place.mokume(predict + "csv:./new.csv").err.find("errors"), std::string::npos);
}

TEST(Shipped, EveryConfigIsValid) {
  const Place place;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(test::source_directory() + "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    const Ended ended = place.mokume("check " + test::shell_word(entry.path().string()));
    const bool without_data = ended.code == 3;  // the file is valid, but its data is not on this machine
    EXPECT_TRUE(ended.code == 0 || without_data) << entry.path() << ended.err;
    ++files;
  }
  EXPECT_GE(files, 8);
  const Ended made =
      place.mokume("run " + test::shell_word(test::source_directory() + "/configs/mlp-regression-made.toml") +
                   " --dry-run --devices host");
  EXPECT_NE(made.err.find("488001 parameters"), std::string::npos) << made.err;
}

TEST_F(Kinds, TargetsThatTheModelCannotPredictAreRefused) {
  place.write("e.toml", experiment(kCsv, ""));
  const Ended ended = place.mokume("run e.toml --set model=template");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("the model 'template' does not predict numbers, and the targets of 'train' are not classes"),
            std::string::npos)
      << ended.err;
}

TEST_F(Kinds, ASearchedNameMustNotBeAMetric) {
  const Ended ended = run(kCsv,
                          "validation.folds = 2\n[search]\nmethod = \"grid\"\n[search.params]\nmse = [1, 2]\n"
                          "[model_options]\nshift = \"$mse\"\n");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("'mse' is a metric of the model 'mean'"), std::string::npos) << ended.err;
}

TEST_F(Kinds, AShareIsOneFoldAndTheRefitTakesEveryRow) {
  const Ended ended = run(kCsv, "validation.share = 0.25\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("\nvalidation mse: "), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("(sd "), std::string::npos) << "one fold has no spread";
  EXPECT_EQ(file("results.csv").substr(38, 8), "0,0,0,2,") << file("results.csv");
  EXPECT_EQ(summary()["folds"], 1);
  EXPECT_EQ(summary()["best"]["sd"], 0);
  EXPECT_EQ(summary()["test"]["mse"], 1.25);
  EXPECT_EQ(place.mokume("resume " + place.run("k").string()).code, 0) << "config.resolved.toml reads back";
}

TEST_F(Kinds, WithoutValidationTheOnlyCandidateIsRefitted) {
  const std::string off = "validation.folds = 0\nmodel_options.shift = 1\n";
  const Ended plan = run(kCsv, off, "--dry-run");
  EXPECT_NE(plan.err.find("no validation: one refit\n"), std::string::npos) << plan.err;
  const Ended ended = run(kCsv, off);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err.find("validation mse"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("test mse: 1.25"), std::string::npos) << ended.err;
  EXPECT_EQ(file("results.csv"), "candidate,bootstrap,fold,n,mse,status\n");
  const json s = summary();
  EXPECT_EQ(s["fits"], 0);
  EXPECT_EQ(s["state"], "done");
  EXPECT_EQ(s["best"], (json{{"candidate", 0}, {"params", json::object()}, {"mean", nullptr}, {"sd", nullptr}}));
  EXPECT_NE(file("report.html").find("none was requested"), std::string::npos);

  const std::string path = place.run("k").string();
  EXPECT_EQ(place.mokume("status " + path).out.find(path + ": done, no validation, one refit\n"), 0U);
  EXPECT_EQ(place.mokume("resume " + path).code, 0) << "nothing is left to do";
  EXPECT_EQ(place.mokume("predict " + path + " --data csv:./test.csv --devices host").out,
            "row,predicted,target\n0,6.5,7\n1,6.5,5\n");

  const Ended searched = run(kCsv, off + "[search]\nmethod = \"grid\"\n[search.params]\nshift = [1, 2]\n");
  EXPECT_EQ(searched.code, 2);
  EXPECT_NE(searched.err.find("folds must not be 0"), std::string::npos) << searched.err;
}

TEST_F(Kinds, TheDryRunShowsTheModelsDescriptionOfItsCandidates) {
  const Ended one = run("source = \"digits\"", "", "--dry-run");
  EXPECT_EQ(one.code, 0);
  EXPECT_NE(one.err.find("\nrows of 28x28x1, layers []\n"), std::string::npos) << one.err;
  EXPECT_EQ(one.err.find("candidate 0"), std::string::npos) << "there is one text only";
  const Ended four = run(kCsv,
                         "[search]\nmethod = \"grid\"\n[search.params]\nshift = [1, 2]\nwide = [3, 4, 5, 6]\n"
                         "[[model_options.layers]]\ntype = \"linear\"\nsize = \"$wide\"\n",
                         "--dry-run --set validation.folds=2");
  EXPECT_NE(
      four.err.find("\ncandidate 0: shift = 1, wide = 3\nrows of 1x1x1, layers [{\"type\":\"linear\",\"size\":3}]\n"
                    "candidate 1: shift = 1, wide = 4\n"),
      std::string::npos)
      << four.err;
  EXPECT_NE(four.err.find("\"size\":5}"), std::string::npos);
  EXPECT_EQ(four.err.find("\"size\":6}"), std::string::npos) << "three at most";
}

std::vector<double> column(const std::string& csv, size_t index) {
  std::vector<double> values;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (size_t k = 0; k <= index; ++k) std::getline(cells, cell, ',');
    values.push_back(std::stod(cell));
  }
  return values;
}

TEST_F(Kinds, RowsInTimeOrderAreValidatedByModelsOfEarlierRows) {
  place.write("train.csv", "a,y\n1,1.5\n2,2.5\n3,4\n4,6\n5,8\n6,10\n");
  const Ended ended = run(R"(source = "csv", path = "./train.csv")", "validation = { folds = 2, ordered = true }\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  // The mean of rows 1 and 2 is 2, and the mean of rows 1 to 4 is 3.5.
  EXPECT_EQ(column(file("results.csv"), 3), (std::vector<double>{2, 2}));
  EXPECT_EQ(column(file("results.csv"), 4), (std::vector<double>{(4.0 + 16) / 2, (20.25 + 42.25) / 2}));
  const Ended share = run(R"(source = "csv", path = "./train.csv")", "validation = { share = 0.17, ordered = true }\n");
  ASSERT_EQ(share.code, 0) << share.err;
  EXPECT_NE(share.err.find("validation mse: 31.36"), std::string::npos) << share.err;  // predicts 4.4 instead of 10
}

TEST_F(Kinds, EarlierRungsInTimeOrderHaveTheLatestRows) {
  std::string rows = "a,y\n";
  for (int row = 0; row < 12; ++row) rows += std::to_string(row) + "," + std::to_string(row) + ".5\n";
  place.write("train.csv", rows);
  const Ended ended = run(R"(source = "csv", path = "./train.csv")",
                          "validation = { folds = 2, ordered = true }\n[search]\nmethod = \"grid\"\nrungs = 2\n"
                          "factor = 2\n[search.params]\nshift = [0, 4]\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  // In rung 0, the means of rows 2 to 3 and of rows 4 to 7 count, 3 and 6; in rung 1, those of all earlier rows, 2
  // and 4.
  EXPECT_EQ(column(file("results.csv"), 5), std::vector<double>(6, 4)) << "whole blocks validate";
  EXPECT_EQ(column(file("results.csv"), 6), (std::vector<double>{10.25, 17.25, 2.25, 1.25, 1.25, 5.25}));
}

TEST_F(Kinds, EachRepeatHasItsOwnFolds) {
  const Ended dry = run(kCsv, "validation = { folds = 2, repeats = 3 }\n", "--dry-run");
  EXPECT_NE(dry.err.find("1 candidate x 3 repeats x 2 folds = 6 fits"), std::string::npos) << dry.err;
  const Ended ended = run(kCsv, "validation = { folds = 2, repeats = 3 }\n");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(column(file("results.csv"), 2), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const std::vector<double> mse = column(file("results.csv"), 4);
  EXPECT_NE((std::pair{mse[0], mse[1]}), (std::pair{mse[2], mse[3]}));
}

TEST_F(Kinds, WeightsOfRowsAreNotAFeature) {
  std::string rows = "a,w,y\n";
  for (int r = 0; r < 12; ++r)
    rows += std::to_string(r) + (r == 5 ? ",0,90.5\n" : ",2.5," + std::to_string(r) + ".5\n");
  place.write("train.csv", rows);
  const std::string start =
      "name = \"k\"\nmodel = \"svc\"\ndevices.use = \"host\"\nvalidation.folds = 3\n"
      "model_options = { kernel = \"linear\", C = 100.0, epsilon = 0.01 }\n"
      "data = { source = \"csv\", path = \"./train.csv\", weight = \"w\" }\n";
  place.write("e.toml", start);
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  place.write("new.csv", "a\n5\n7\n");
  const Ended said = place.mokume("predict " + place.run("k").string() + " --data csv:./new.csv --devices host");
  ASSERT_EQ(said.code, 0) << said.err;
  std::istringstream lines(said.out);
  std::string header;
  std::getline(lines, header);
  EXPECT_EQ(header, "row,predicted");
  for (const double expected : {5.5, 7.5}) {
    std::string line;
    std::getline(lines, line);
    EXPECT_NEAR(std::stod(line.substr(2)), expected, 0.05) << "the row with weight 0 teaches nothing";
  }
  const auto refused = [&](const std::string& from, const std::string& to, const char* words) {
    std::string text = rows;
    text.replace(text.find(from), from.size(), to);
    place.write("train.csv", text);
    const Ended bad = place.mokume("run e.toml --fresh");
    EXPECT_EQ(bad.code, 3) << bad.err;
    EXPECT_NE(bad.err.find(words), std::string::npos) << bad.err;
  };
  refused("0,2.5", "0,-1", "line 2, column 'w': found '-1', but a weight is a number from 0 up");
  refused("0,2.5", "0,", "line 2, column 'w': the weight of the row is missing");
  refused("w,y", "v,y", "has no column 'w' for data.weight");
}

// The rows with a = -1 have both classes. Weights of rows favour "no" for them, and weights of classes favour "yes".
TEST_F(Kinds, NetworksUseWeightsOfRowsAndClasses) {
  std::string rows = "w,a,kind\n";
  for (int r = 0; r < 60; ++r) rows += r % 3 == 0 ? "0,-1,yes\n" : r % 3 == 1 ? "1,1,yes\n" : "2,-1,no\n";
  place.write("train.csv", rows);
  const auto predicted = [&](const std::string& name, const std::string& data, const std::string& more) {
    place.write("e.toml",
                "name = \"" + name +
                    "\"\nmodel = \"cnn\"\ndevices.use = \"host\"\nvalidation.folds = 0\n"
                    "data = { source = \"csv\", path = \"./train.csv\"" +
                    data +
                    " }\n[model_options]\nepochs = 20\nbatch_size = 10\noptimizer = { type = \"sgd\", lr = 0.5 }\n"
                    "layers = [{ type = \"linear\", out_features = 2 }]\n" +
                    more);
    const Ended ended = place.mokume("run e.toml --fresh");
    EXPECT_EQ(ended.code, 0) << ended.err;
    place.write("new.csv", "a\n-1\n");
    const Ended said = place.mokume("predict " + place.run(name).string() + " --data csv:./new.csv --devices host");
    EXPECT_EQ(said.code, 0) << said.err;
    return said.out;
  };
  EXPECT_NE(predicted("weights", ", weight = \"w\"", "").find("0,no"), std::string::npos);
  EXPECT_NE(predicted("classes", ", ignore = [\"w\"]", "class_weight = \"yes=9\"\n").find("0,yes"), std::string::npos);
  place.write("e.toml",
              "name = \"k\"\nmodel = \"cnn\"\ndevices.use = \"host\"\nvalidation.folds = 2\n"
              "data = { source = \"csv\", path = \"./train.csv\" }\n[model_options]\nclass_weight = \"cow=2\"\n"
              "layers = [{ type = \"linear\", out_features = 2 }]\nbatch_size = 10\n");
  const Ended refused = place.mokume("run e.toml --fresh");
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("class_weight: 'cow=2' names no class of the data"), std::string::npos) << refused.err;
}

TEST_F(Kinds, WeightsAreRefusedIfTheModelDoesNotUseThem) {
  const Ended ended = run(R"(source = "csv", path = "./train.csv", weight = "a")", "validation.folds = 2\n");
  EXPECT_EQ(ended.code, 3) << "the weight is no feature, so there is none: " << ended.err;
  place.write("train.csv", "w,a,y\n1,1,1.5\n1,2,3.5\n1,1,1.5\n1,1,3.5\n");
  const Ended with = run(R"(source = "csv", path = "./train.csv", weight = "w")", "validation.folds = 2\n");
  EXPECT_EQ(with.code, 2) << with.err;
  EXPECT_NE(with.err.find("data.weight is 'w', but the model 'mean' does not weigh rows: remove it"), std::string::npos)
      << with.err;
}

TEST_F(Kinds, AGroupIsNeverTrainedOnAndValidated) {
  place.write("train.csv", "who,y\nann,1.5\nbob,3.5\nann,1.5\nbob,3.5\n");
  const Ended ended = run(R"(source = "csv", path = "./train.csv")", "validation = { folds = 2, group = \"who\" }\n");
  EXPECT_EQ(ended.code, 3) << "the group is no feature, so there is none: " << ended.err;
  place.write("train.csv", "who,a,y\nann,1,1.5\nbob,1,3.5\nann,1,1.5\nbob,1,3.5\n");
  const Ended with = run(R"(source = "csv", path = "./train.csv")", "validation = { folds = 2, group = \"who\" }\n");
  ASSERT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(column(file("results.csv"), 4), (std::vector<double>{4, 4}));
  place.write("t.csv", "a\n1\n");
  const Ended said = place.mokume("predict " + place.run("k").string() + " --data csv:./t.csv --devices host");
  EXPECT_EQ(said.code, 0) << said.err;
}

TEST_F(Kinds, KindsOfValidationThatExcludeEachOtherAreRefused) {
  const auto refused = [&](const std::string& more, const std::string& sentence) {
    const Ended ended = run(kCsv, more);
    EXPECT_EQ(ended.code, 2) << more;
    EXPECT_NE(ended.err.find(sentence), std::string::npos) << ended.err;
  };
  refused("validation = { folds = 2, ordered = true, shuffle = true }\n",
          "rows in the order of time leave no choice to validation.shuffle");
  refused("validation = { folds = 2, ordered = true, group = \"a\" }\n",
          "rows in the order of time leave no choice to validation.group");
  refused("validation = { folds = 2, ordered = true }\nbagging.bootstraps = 2\n",
          "rows in the order of time leave no choice to bagging.bootstraps");
  refused("validation = { folds = 2, repeats = 2, shuffle = false }\n", "every repeat has the same folds");
  refused("validation = { folds = 2, repeats = 2 }\nbagging.bootstraps = 2\n", "there are no repeats");
  refused("validation = { share = 0.5, repeats = 2 }\n", "repeats has no meaning with validation.share");
}

// A scaling that is fitted on the huge value hides the differences between all other values.
TEST_F(Kinds, AFoldScalesByTheRowsThatItTrainsOn) {
  std::string rows = "a,y\n1e9,0\n";
  for (int i = 1; i < 40; ++i) rows += std::to_string(i * 7 % 40 - 20) + (i * 7 % 40 < 20 ? ",0\n" : ",1\n");
  place.write("rows.csv", rows);
  const auto errors = [&](const std::string& name, const std::string& within, const std::string& told) {
    place.write("e.toml", "name = \"" + name + "\"\nmodel = \"svc\"\ndevices.use = \"host\"\n" +
                              "model_options = { C = 100, gamma = 1 }\n" +
                              R"(data = { source = "csv", path = "./rows.csv", standardize = "features")" + within +
                              " }\nvalidation = { folds = 4, shuffle = false, stratified = false }\n");
    const Ended ended = place.mokume("run e.toml");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(slurp(place.run(name) / "report.html").find(told), std::string::npos);
    return column(slurp(place.run(name) / "results.csv"), 4);
  };
  const std::vector<double> own = errors("own", "", "scaling is fitted within each fold");
  const std::vector<double> shared =
      errors("shared", ", within = \"training\"", "scaling is fitted on all training rows");
  EXPECT_LE(own[0], 2) << "the huge value is validated by fold 0";
  EXPECT_GE(shared[0], 3);
}

}  // namespace
}  // namespace mokume::cli_test
