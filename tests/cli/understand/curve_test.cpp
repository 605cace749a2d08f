// Tests `curve`, which measures the best candidate of a run on growing parts of the rows.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/sealed.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::json;

class Curve : public testing::Test {
 protected:
  fs::path run(const std::string& validation = "folds = 4", const std::string& more = "",
               const std::string& name = "c") {
    place_.write("e.toml",
                 "name = \"" + name +
                     "\"\nmodel = \"svc\"\nseed = 5\ndevices.use = \"host\"\n"
                     "data = { source = \"digits\", limit = 400, standardize = { mean = 127.5, scale = 255 } }\n"
                     "validation = { " +
                     validation +
                     " }\nsearch = { method = \"grid\", params = { C = [0.1, 10], gamma = [0.001, 0.01] } }\n" + more);
    const Ended ended = place_.mokume("run e.toml");
    EXPECT_EQ(ended.code, 0) << ended.err;
    return place_.run(name);
  }
  // Returns the directory of the run that measured the curve.
  static fs::path curve_run(const fs::path& run) {
    for (const auto& entry : fs::directory_iterator(run / "curve/rows")) return entry.path();
    return {};
  }
  Ended curve(const fs::path& run, const std::string& arguments = "") {
    return place_.mokume("curve " + run.string() + " " + arguments);
  }

  Place place_;
};

TEST_F(Curve, EndsAtTheMeanOfTheBestCandidate) {
  const fs::path done = run();
  const Ended ended = curve(done, "--points 3");
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(slurp(done / "curve.csv"));
  std::vector<std::string> read;
  for (std::string line; std::getline(lines, line);) read.push_back(line);
  ASSERT_EQ(read.size(), 4U) << "a header and three points";
  EXPECT_EQ(read[0], "rows,mean_error,sd");
  // Parts are rounded up so that each class has rows in each fold.
  EXPECT_NEAR(std::stoi(read[1]), 75, 20);
  EXPECT_NEAR(std::stoi(read[2]), 150, 20);
  const double mean = json::parse(slurp(done / "summary.json"))["best"]["mean"];
  ASSERT_TRUE(read[3].starts_with("300,")) << read[3];
  EXPECT_NEAR(std::stod(read[3].substr(4)), mean, 1e-12) << "all rows, in the folds of the run";
  EXPECT_NE(ended.out.find("300 rows: error "), std::string::npos) << ended.out;
  EXPECT_NE(slurp(done / "report.html").find("Learning curve"), std::string::npos);
  EXPECT_TRUE(fs::exists(done / "plots/learning-curve.svg"));
  const Ended again = curve(done, "--points 3");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, ended.out);
}

TEST_F(Curve, FitsOnAllRowsAreThoseOfTheRun) {
  const fs::path done = run();
  ASSERT_EQ(curve(done, "--points 3").code, 0);
  const fs::path measured = curve_run(done);
  EXPECT_EQ(lines_of(slurp(measured / "results.csv")).size(), 1U + 2 * 4) << "two parts in four folds";
  EXPECT_FALSE(fs::exists(measured / "models/best"));
  const json summary = json::parse(slurp(measured / "summary.json"));
  EXPECT_EQ(summary["state"], "done");
  EXPECT_TRUE(has(slurp(measured / "config.resolved.toml"), "whole = false"));
  const Ended resumed = place_.mokume("resume " + measured.string());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const Ended explained = place_.mokume("explain " + measured.string());
  EXPECT_TRUE(has(explained.out, "8 of 8 fits, without a refit")) << explained.out << explained.err;
  EXPECT_EQ(place_.mokume("explain " + measured.string() + " refit").code, 2);
}

// The random numbers of a network depend on the place of a fit in the plan, so another run's fits would differ.
TEST_F(Curve, TheLastPointOfANetworkIsThatOfTheRun) {
  place_.write(
      "e.toml",
      "name = \"n\"\nmodel = \"cnn\"\nseed = 3\ndevices.use = \"host\"\n"
      "data = { source = \"digits\", limit = 240, standardize = { mean = 127.5, scale = 255 } }\n"
      "validation.folds = 3\n[model_options]\nepochs = 3\nbatch_size = 16\n"
      "layers = [{ type = \"flatten\" }, { type = \"linear\", out_features = 10 }, { type = \"log_softmax\" }]\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const fs::path done = place_.run("n");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const double mean = json::parse(slurp(done / "summary.json"))["best"]["mean"];
  EXPECT_EQ(json::parse(ended.out)["points"].back()["mean"], mean);
  EXPECT_EQ(lines_of(slurp(curve_run(done) / "results.csv")).size(), 1U + 3);
}

TEST_F(Curve, RepeatsCountInTheLastPoint) {
  const fs::path done = run("folds = 4, repeats = 2");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json last = json::parse(ended.out)["points"].back();
  EXPECT_EQ(last["rows"], 300);
  EXPECT_NEAR(last["mean"].get<double>(), json::parse(slurp(done / "summary.json"))["best"]["mean"].get<double>(),
              1e-12);
}

TEST_F(Curve, InTimeASmallerPartHasTheLatestRows) {
  const fs::path done = run("folds = 3, ordered = true");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json points = json::parse(ended.out)["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["rows"], 100) << "half of 100, 200 and 300 rows";
  EXPECT_EQ(points[1]["rows"], 200);
  EXPECT_NEAR(points[1]["mean"].get<double>(), json::parse(slurp(done / "summary.json"))["best"]["mean"].get<double>(),
              1e-12);
  const std::vector<std::string> fits = lines_of(slurp(curve_run(done) / "results.csv"));
  ASSERT_EQ(fits.size(), 1U + 3);
  for (size_t fit = 1; fit < fits.size(); ++fit)
    EXPECT_TRUE(has(fits[fit], ",100,")) << "whole blocks validate: " << fits[fit];
}

TEST_F(Curve, FoldsOfAFileLoseRowsEach) {
  std::string folds;
  for (int row = 0; row < 400; ++row) folds += std::to_string(row < 40 ? -1 : row % 3) + "\n";
  place_.write("folds.txt", folds);
  const fs::path done = run("folds = 3, file = \"folds.txt\"");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json points = json::parse(ended.out)["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1]["rows"], 40 + 360 * 2 / 3);
  EXPECT_NEAR(points[0]["rows"].get<double>(), 140, 20);
}

TEST_F(Curve, TwoNodesMeasureTheSame) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const fs::path done = run();
  ASSERT_EQ(curve(done, "--points 3").code, 0);
  const std::string alone = slurp(done / "curve.csv");
  fs::remove_all(done / "curve");
  fs::remove(done / "curve.csv");
  const std::string ranks =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun --oversubscribe -np 2 ";
  const Ended ended = place_.shell(ranks + Place::program() + " curve " + done.string() + " --points 3");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(slurp(done / "curve.csv"), alone);
  EXPECT_EQ(lines_of(ended.out).size(), 3U) << "one rank prints: " << ended.out;
  EXPECT_EQ(json::parse(slurp(curve_run(done) / "summary.json"))["nodes"], 2);
}

TEST_F(Curve, AHeldOutShareBecomesFolds) {
  const fs::path done = run("share = 0.25");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json points = json::parse(ended.out)["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1]["rows"], 320);
}

TEST_F(Curve, ARunWithoutASearchHasACurve) {
  place_.write("e.toml",
               "name = \"s\"\nmodel = \"svc\"\nseed = 5\ndevices.use = \"host\"\n"
               "data = { source = \"digits\", limit = 400, standardize = { mean = 127.5, scale = 255 } }\n"
               "validation.folds = 4\nmodel_options.C = 10\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const Ended ended = curve(place_.run("s"), "--points 2");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("300 rows: error "), std::string::npos) << ended.out;
}

TEST_F(Curve, AnOuterFoldStaysHeldOut) {
  const fs::path done = run("folds = 3, outer = 2, outer_fold = 1");
  const Ended ended = curve(done, "--points 2 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json last = json::parse(ended.out)["points"].back();
  const json data = json::parse(slurp(done / "summary.json"))["data"];
  EXPECT_NEAR(last["rows"].get<double>(), data["rows"].get<double>() * 2 / 3, 1);
}

TEST_F(Curve, TheSmallestClassHasARowInEveryFoldOfEveryPart) {
  std::string rows = "a,b,class\n";
  for (int row = 0; row < 400; ++row)
    rows += std::to_string(row % 13) + ',' + std::to_string(row % 7) + (row % 20 == 0 ? ",rare\n" : ",usual\n");
  place_.write("rows.csv", rows);
  place_.write(
      "e.toml",
      "name = \"r\"\nmodel = \"svc\"\ndevices.use = \"host\"\ndata = { source = \"csv\", path = \"rows.csv\" }\n"
      "validation.folds = 5\nmodel_options.C = 10\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const Ended ended = curve(place_.run("r"), "--json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out)["points"].size(), 3U) << "20 rows in 5 folds can be halved twice";
}

TEST_F(Curve, AnotherBestCandidateHasNoCurve) {
  const fs::path done = run();
  ASSERT_EQ(curve(done, "--points 2").code, 0);
  json stored = json::parse(slurp(done / "curve.json"));
  stored["candidate"] = stored["candidate"].get<int>() == 0 ? 1 : 0;
  stored.erase("crc");
  std::ofstream(done / "curve.json") << base::seal(stored.dump());
  ASSERT_EQ(place_.mokume("report " + done.string()).code, 0);
  EXPECT_EQ(slurp(done / "report.html").find("Learning curve"), std::string::npos);
}

TEST_F(Curve, WhatHasNoCurveIsRefused) {
  const auto refuse = [&](const fs::path& run, const std::string& arguments, const std::string& said) {
    const Ended ended = curve(run, arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  };
  refuse(run(), "--points 9", "at most 3 are possible");
  refuse(run("folds = 4", "bagging.bootstraps = 2\n", "bagged"), "", "run the experiment without [bagging]");
}

TEST_F(Curve, ADamagedFileIsNamed) {
  const fs::path done = run();
  ASSERT_EQ(curve(done, "--points 2").code, 0);
  std::ofstream(done / "curve.json") << "{}";
  const Ended ended = place_.mokume("report " + done.string());
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("curve.json is damaged"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test
