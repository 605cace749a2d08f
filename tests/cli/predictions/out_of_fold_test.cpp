// Tests the table of what the best candidate predicts for the rows that its folds validate.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

// Returns 60 rows of two classes that overlap, with a number for each row in the column id.
std::string overlapping_rows() {
  std::string text = "id,a,b,y\n";
  for (int row = 0; row < 60; ++row)
    text += "r" + std::to_string(100 + row) + "," + std::to_string(row * 37 % 60) + "," +
            std::to_string(row * row % 53) + "," + (row * 37 % 60 + row % 7 * 4 > 40 ? "yes" : "no") + "\n";
  return text;
}

std::string grid_of_rows(const std::string& gammas = "[0.1, 1]", const std::string& more = "") {
  return "name = \"o\"\nmodel = \"svc\"\nseed = 4\ndevices.use = \"host\"\n"
         "data = { source = \"csv\", path = \"rows.csv\", ignore = [\"id\"], standardize = \"features\" }\n"
         "validation.folds = 3\nsearch = { method = \"grid\", params = { C = [1, 10], gamma = " +
         gammas + " } }\n" + more;
}

class OutOfFold : public testing::Test {
 protected:
  OutOfFold() { place_.write("rows.csv", overlapping_rows()); }

  fs::path run(const std::string& text, const std::string& arguments = "") {
    place_.write("e.toml", text);
    ended_ = place_.mokume("run e.toml " + arguments);
    EXPECT_EQ(ended_.code, 0) << ended_.err;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(place_.path() / "runs/o")) found.push_back(entry.path());
    return *std::max_element(found.begin(), found.end());
  }

  // Checks that the table has each row once, and as many errors as the best candidate has in results.csv.
  static void expect_table(const fs::path& run) {
    const json summary = json::parse(slurp(run / "summary.json"));
    const auto lines = lines_of(slurp(run / "out_of_fold.csv"));
    ASSERT_EQ(lines.size(), 61U);
    EXPECT_EQ(lines[0], "row,id,fold,class,predicted");
    int64_t errors = 0;
    for (size_t row = 0; row < 60; ++row) {
      const auto cells = split(lines[row + 1]);
      ASSERT_EQ(cells.size(), 5U) << lines[row + 1];
      EXPECT_EQ(cells[0], std::to_string(row));
      EXPECT_EQ(cells[1], "r" + std::to_string(100 + row));
      errors += cells[3] != cells[4] ? 1 : 0;
    }
    const json& validated = summary["validated"];
    EXPECT_EQ(validated["errors"], errors);
    EXPECT_EQ(validated["n"], 60);
    EXPECT_EQ(validated["confusion"][0][1].get<int64_t>() + validated["confusion"][1][0].get<int64_t>(), errors);
    EXPECT_NEAR(summary["best"]["mean"].get<double>(), static_cast<double>(errors) / 60, 1e-12);
    EXPECT_LT(validated["interval"][0].get<double>(), validated["interval"][1].get<double>());
  }

  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) c == ',' ? void(cells.emplace_back()) : void(cells.back() += c);
    return cells;
  }

  Place place_;
  Ended ended_;
};

TEST_F(OutOfFold, HoldsEachRowOnceWithItsId) {
  const fs::path done = run(grid_of_rows());
  expect_table(done);
  EXPECT_NE(ended_.err.find("validated rows: "), std::string::npos) << ended_.err;
  EXPECT_NE(slurp(done / "report.html").find("Each row was predicted by the best candidate"), std::string::npos);
  const std::string table = slurp(done / "out_of_fold.csv");
  const fs::path isolated = run(grid_of_rows(), "--fresh --set devices.isolation=process");
  EXPECT_EQ(slurp(isolated / "out_of_fold.csv"), table);
}

TEST_F(OutOfFold, SurvivesTakingFitsOver) {
  const std::string expected = slurp(run(grid_of_rows("[0.1, 1, 10]")) / "out_of_fold.csv");
  fs::remove_all(place_.path() / "runs");
  run(grid_of_rows("[0.1, 1]"));
  const fs::path grown = run(grid_of_rows("[0.1, 1, 10]"));
  EXPECT_NE(ended_.err.find("taking over"), std::string::npos) << ended_.err;
  expect_table(grown);
  EXPECT_EQ(slurp(grown / "out_of_fold.csv"), expected);
}

TEST_F(OutOfFold, CountsRepeatsOncePerRepeatAndNothingWithBagging) {
  const json summary = json::parse(slurp(run(grid_of_rows("[0.1]", "validation.repeats = 3\n")) / "summary.json"));
  EXPECT_EQ(summary["validated"]["n"], 180);
  const double width =
      summary["validated"]["interval"][1].get<double>() - summary["validated"]["interval"][0].get<double>();
  EXPECT_GT(width, 0.1) << "three predictions of a row are not three rows";
  EXPECT_FALSE(fs::exists(run(grid_of_rows("[0.1]", "bagging.bootstraps = 2\n")) / "out_of_fold.csv"));
}

TEST_F(OutOfFold, ARegressionHasItsMeasures) {
  std::string rows = "a,y\n";
  for (int row = 0; row < 40; ++row) rows += std::to_string(row) + "," + std::to_string(row * 3 % 17) + ".5\n";
  place_.write("rows.csv", rows);
  const fs::path done = run(
      "name = \"o\"\nmodel = \"svc\"\ndevices.use = \"host\"\ndata = { source = \"csv\", path = \"rows.csv\" }\n"
      "validation = { folds = 4, score = [\"mae\"] }\nsearch = { method = \"grid\", select = \"r2\", params = { C = "
      "[1, 100] } }\nmodel_options.gamma = 0.1\n");
  const json validated = json::parse(slurp(done / "summary.json"))["validated"];
  double squares = 0;
  const auto lines = lines_of(slurp(done / "out_of_fold.csv"));
  ASSERT_EQ(lines.size(), 41U);
  for (size_t row = 1; row < lines.size(); ++row) {
    const auto cells = split(lines[row]);
    squares += (std::stod(cells[2]) - std::stod(cells[3])) * (std::stod(cells[2]) - std::stod(cells[3]));
  }
  EXPECT_NEAR(validated["mse"].get<double>(), squares / 40, 1e-4);
  EXPECT_TRUE(validated.contains("r2") && validated.contains("mae") && validated.contains("explained_variance"));
  EXPECT_TRUE(slurp(done / "results.csv").starts_with("candidate,bootstrap,fold,C,n,mse,mae,r2,status"));
  const std::string plot = slurp(done / "plots/predicted.svg");
  size_t points = 0;
  for (size_t at = plot.find("<circle"); at != std::string::npos; at = plot.find("<circle", at + 1)) ++points;
  EXPECT_EQ(points, 40U);
  EXPECT_NE(slurp(done / "report.html").find("Residuals over predicted numbers"), std::string::npos);
  EXPECT_TRUE(slurp(done / "candidates.csv").starts_with("candidate,bootstrap,C,mean,sd,min,max,rank,unsure,mean_mse"));
}

TEST_F(OutOfFold, DamageIsNamed) {
  const fs::path done = run(grid_of_rows());
  const std::string text = slurp(done / "out_of_fold.json");
  std::string other = text;
  other.replace(other.find("\"classes\":2"), 11, "\"classes\":3");
  place_.write(fs::relative(done / "out_of_fold.json", place_.path()).string(), other);
  const Ended ended = place_.mokume("report " + done.string());
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("out_of_fold.json is damaged"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test
