// Tests which columns `explain --columns` finds important, and on which rows.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

// Returns rows whose class depends on `size` and `colour`, and not on `noise`.
std::string rows_of(int first, int rows) {
  std::string text = "size,colour,noise,class\n";
  for (int row = first; row < first + rows; ++row) {
    const int size = row * 7 % 20;
    const bool red = row % 3 == 0;
    text += std::to_string(size) + (red ? ",red," : ",blue,") + std::to_string(row * 11 % 17) + ',' +
            ((size < 10) != red ? "small" : "large") + '\n';
  }
  return text;
}

class ImportantColumns : public testing::Test {
 protected:
  fs::path run(const std::string& more, const std::string& validation = "") {
    place_.write("rows.csv", rows_of(0, 240));
    place_.write("test.csv", rows_of(240, 120));
    place_.write(
        "e.toml",
        "name = \"c\"\nmodel = \"svc\"\ndevices.use = \"host\"\n[data]\nsource = \"csv\"\npath = \"rows.csv\"\n"
        "categorical = [\"colour\"]\nstandardize = \"features\"\n" +
            more + "[validation]\nfolds = 3\n" + validation + "[model_options]\nC = 10\ngamma = 0.5\n");
    const Ended ended = place_.mokume("run e.toml");
    EXPECT_EQ(ended.code, 0) << ended.err;
    return place_.run("c");
  }
  json columns_of(const fs::path& run, const std::string& arguments = "") {
    ended_ = place_.mokume("explain " + run.string() + " --columns --json --devices host " + arguments);
    EXPECT_EQ(ended_.code, 0) << ended_.err;
    return json::parse(ended_.out);
  }

  Place place_;
  Ended ended_;
};

TEST_F(ImportantColumns, ThoseThatDecideTheClassRaiseTheError) {
  const fs::path done = run("test = \"test.csv\"\n");
  const json found = columns_of(done);
  EXPECT_EQ(found["rows"], 120);
  EXPECT_EQ(found["value"], json::parse(slurp(done / "summary.json"))["test"]["error"]);
  ASSERT_EQ(found["columns"].size(), 3U) << "both levels of the colour are shuffled together";
  EXPECT_EQ(found["columns"][2]["column"], "noise");
  for (const size_t place : {0U, 1U}) EXPECT_GT(found["columns"][place]["rise"], 0.2);
  EXPECT_LT(found["columns"][2]["rise"], 0.1);
  EXPECT_EQ(columns_of(done), found) << "one seed, one answer";
  const Ended text = place_.mokume("explain " + done.string() + " --columns --repeats 2 --devices host");
  EXPECT_NE(text.out.find("2 shuffles of each column"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("need not be a cause"), std::string::npos) << text.out;
}

TEST_F(ImportantColumns, WithoutTestRowsTheTrainingRowsAreNamed) {
  const fs::path done = run("");
  EXPECT_EQ(columns_of(done)["rows"], 240);
  EXPECT_NE(ended_.err.find("these are the rows on which the model was trained"), std::string::npos) << ended_.err;
  EXPECT_EQ(columns_of(done, "--data csv:test.csv")["rows"], 120);
  EXPECT_EQ(ended_.err.find("was trained"), std::string::npos) << ended_.err;
}

TEST_F(ImportantColumns, AnOuterFoldNeedsNamedRows) {
  const fs::path done = run("", "outer = 2\nouter_fold = 1\n");
  const Ended ended = place_.mokume("explain " + done.string() + " --columns --devices host");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("name rows with --data"), std::string::npos) << ended.err;
}

TEST_F(ImportantColumns, ARegressionRaisesItsRmse) {
  std::string rows = "a,b,y\n";
  for (int row = 0; row < 90; ++row)
    rows += std::to_string(row % 9) + ',' + std::to_string(row % 7) + ',' + std::to_string(row % 9 * 2) + ".5\n";
  place_.write("numbers.csv", rows);
  place_.write(
      "n.toml",
      "name = \"n\"\nmodel = \"svc\"\ndevices.use = \"host\"\ndata = { source = \"csv\", path = \"numbers.csv\", "
      "standardize = \"features\" }\nvalidation.folds = 3\nmodel_options = { C = 100, gamma = 0.5 }\n");
  ASSERT_EQ(place_.mokume("run n.toml").code, 0);
  const json found = columns_of(place_.run("n"));
  EXPECT_EQ(found["metric"], "rmse");
  EXPECT_EQ(found["columns"][0]["column"], "a");
  EXPECT_GT(found["columns"][0]["rise"], 5 * found["columns"][1]["rise"].get<double>());
}

TEST_F(ImportantColumns, RowsWithoutAClassAndPicturesAreRefused) {
  const fs::path done = run("");
  place_.write("bare.csv", "size,colour,noise\n1,red,2\n3,blue,4\n");
  const Ended bare = place_.mokume("explain " + done.string() + " --columns --devices host --data csv:bare.csv");
  EXPECT_EQ(bare.code, 3) << bare.err;
  EXPECT_NE(bare.err.find("at least 2 rows with a class or target"), std::string::npos) << bare.err;
  place_.write("d.toml",
               "name = \"d\"\nmodel = \"svc\"\ndevices.use = \"host\"\ndata = { source = \"digits\", limit = 60 }\n"
               "validation.folds = 2\n");
  ASSERT_EQ(place_.mokume("run d.toml").code, 0);
  const Ended images = place_.mokume("explain " + place_.run("d").string() + " --columns --devices host");
  EXPECT_EQ(images.code, 2) << images.err;
  EXPECT_NE(images.err.find("explains tables only"), std::string::npos) << images.err;
}

}  // namespace
}  // namespace mokume::cli_test
