#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/sealed.hpp"
#include "results/format.hpp"
#include "results/support.hpp"
#include "results/tables.hpp"
#include "support/scratch.hpp"

namespace mokume::results {
namespace {

using testing::grid;
using testing::record;

RunView two_candidates() {
  RunView view = grid(2, 1);
  view.plan.candidates = {{0.1, std::string("a, \"b\"\nc")}, {1e-7, std::string("rbf")}};
  view.records = {record(0, 1), record(1, 3), record(2, 2), record(3, 0)};
  view.records[2].status = journal::FitStatus::copied;
  view.records[3].status = journal::FitStatus::failed;
  view.records[3].values.clear();
  return view;
}

TEST(ResultsCsv, HasTheExpectedText) {
  EXPECT_EQ(results_csv(two_candidates()),
            "candidate,bootstrap,fold,C,gamma,n,errors,error,status\n"
            "0,0,0,0.1,\"a, \"\"b\"\"\nc\",10,1,0.1,ok\n"
            "0,0,1,0.1,\"a, \"\"b\"\"\nc\",10,3,0.3,ok\n"
            "1,0,0,1e-07,rbf,10,2,0.2,copied\n"
            "1,0,1,1e-07,rbf,10,,,failed\n");
}

TEST(ResultsCsv, HoldsNeitherTimesNorDevices) {
  RunView one = two_candidates(), other = one;
  for (auto& r : other.records)
    r.start_s += 55, r.end_s += 99, r.device = "host:3", r.node = 4, r.attempt = 2, r.bundle = 8;
  EXPECT_EQ(results_csv(one), results_csv(other));
  EXPECT_EQ(candidates_csv(one), candidates_csv(other));
  EXPECT_NE(timeline_csv(one), timeline_csv(other));
}

TEST(ResultsCsv, AFailedFitHasNoMetricsEvenIfValuesCame) {
  RunView view = two_candidates();
  view.records[3].values = {7, 0.7};
  EXPECT_HAS(results_csv(view), "1,0,1,1e-07,rbf,10,,,failed\n");
}

TEST(ResultsCsv, WritesNonIntegersOfIntegerMetricsAsTheyAre) {
  RunView view = two_candidates();
  view.records[0].values = {1.5, std::numeric_limits<double>::quiet_NaN()};
  view.records[1].values = {std::numeric_limits<double>::infinity(), 1e300};
  const std::string text = results_csv(view);
  EXPECT_HAS(text, ",10,1.5,nan,ok\n");
  EXPECT_HAS(text, ",10,inf,1e+300,ok\n");
}

TEST(CandidatesCsv, HasTheExpectedText) {
  EXPECT_EQ(candidates_csv(two_candidates()),
            "candidate,bootstrap,C,gamma,mean,sd,min,max,rank,unsure\n"
            "0,0,0.1,\"a, \"\"b\"\"\nc\",0.2,0.1414213562373095,0.1,0.3,1,0\n"
            "1,0,1e-07,rbf,,,,,2,0\n");
}

TEST(CandidatesCsv, HasTheMeansOfFurtherMetrics) {
  RunView view = two_candidates();
  view.metrics.push_back({"auc", false, false, true});
  for (size_t r = 0; r < view.records.size(); ++r)
    view.records[r].values.push_back(0.5 + 0.25 * static_cast<double>(r));
  EXPECT_HAS(candidates_csv(view), ",rank,unsure,mean_auc\n");
  EXPECT_HAS(candidates_csv(view), ",0.1,0.3,1,0,0.625\n");
  EXPECT_HAS(candidates_csv(view), ",,,,,2,0,\n");
  view.best = 0;
  const auto scores = nlohmann::json::parse(summary_json(view))["best"]["scores"];
  EXPECT_EQ(scores["auc"]["mean"], 0.625);
}

TEST(CandidatesCsv, SaysHowManyRowsTheToleranceLeavesOpen) {
  RunView view = two_candidates();
  view.records[0].note = "steps=12 unsure=3";
  view.records[1].note = "unsure=1 settled=0@1";
  EXPECT_HAS(candidates_csv(view), "0.3,1,4\n");
  for (const char* odd : {"unsure=", "unsure=x", "unsure=3x", "unsure=99999999999999999999", "very unsure=3rows"}) {
    view.records[0].note = odd;
    EXPECT_HAS(candidates_csv(view), "0.3,1,1\n");
  }
}

TEST(TimelineCsv, HasTheExpectedText) {
  RunView view = two_candidates();
  view.records[1].device = "odd,name";
  view.records[3].end_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(timeline_csv(view),
            "candidate,bootstrap,fold,bundle,node,device,start_s,end_s,attempt\n"
            "0,0,0,0,0,opencl:0,0.000000,0.750000,1\n"
            "0,0,1,0,0,\"odd,name\",0.000000,0.750000,1\n"
            "1,0,0,1,0,opencl:0,1.000000,1.750000,1\n"
            "1,0,1,1,0,opencl:0,,,1\n");
}

// The energy is a column only if something counted it, because most machines count none.
TEST(TimelineCsv, HasTheEnergyOfFitsThatIsKnown) {
  RunView view = two_candidates();
  view.records[0].energy_j = 30, view.records[1].energy_j = 90.5;  // one attempt, which used 90.5 J in all
  EXPECT_EQ(timeline_csv(view),
            "candidate,bootstrap,fold,bundle,node,device,start_s,end_s,attempt,energy_j\n"
            "0,0,0,0,0,opencl:0,0.000000,0.750000,1,45.250\n"
            "0,0,1,0,0,opencl:0,0.000000,0.750000,1,45.250\n"
            "1,0,0,1,0,opencl:0,1.000000,1.750000,1,\n"
            "1,0,1,1,0,opencl:0,1.000000,1.750000,1,\n");
  EXPECT_EQ(results_csv(view), results_csv(two_candidates()));
}

TEST(SummaryJson, HasTheEnergyThatIsKnown) {
  RunView view = two_candidates();
  EXPECT_FALSE(nlohmann::json::parse(summary_json(view)).contains("energy_j"));
  view.records[0].energy_j = 30, view.records[1].energy_j = 90.5, view.records[3].energy_j = 4;
  view.devices.resize(2);
  view.devices[1].energy_j = 94.5;
  const auto summary = nlohmann::json::parse(summary_json(view));
  EXPECT_EQ(summary["energy_j"], 94.5);
  EXPECT_EQ(summary["fits_with_energy"], 3);
  EXPECT_FALSE(summary["devices"][0].contains("energy_j"));
  EXPECT_EQ(summary["devices"][1]["energy_j"], 94.5);
}

TEST(SummaryJson, HasTheExpectedText) {
  RunView view = two_candidates();
  view.best = 0;
  view.devices.resize(1);
  view.devices[0].fits = 4;
  EXPECT_EQ(summary_json(view), R"({
  "name": "tiny",
  "model": "svc",
  "seed": "7",
  "plan_hash": "abc",
  "data": {
    "name": "digits",
    "rows": 20,
    "features": 4,
    "classes": 3,
    "test_rows": 50,
    "sha256": "def"
  },
  "candidates": 2,
  "folds": 2,
  "bootstraps": 1,
  "fits": 4,
  "fits_planned": 4,
  "failed": 1,
  "failed_refits": 0,
  "best": {
    "candidate": 0,
    "params": {
      "C": 0.1,
      "gamma": "a, \"b\"\nc"
    },
    "mean": 0.2,
    "sd": 0.1414213562373095
  },
  "test": {
    "errors": 5,
    "n": 50,
    "error": 0.1,
    "interval": [
      0.04347576493189041,
      0.21360231437479654
    ]
  },
  "wall_s": 12.5,
  "fit_s": 1.5,
  "devices": [
    {
      "node": 0,
      "id": "opencl:0",
      "backend": "opencl",
      "name": "Card",
      "vendor": "Maker",
      "fits": 4,
      "busy_s": 4.5,
      "speed": 1.25
    }
  ],
  "nodes": 1,
  "efficiency": 0.75,
  "speeds": "measured",
  "state": "done"
}
)");
}

TEST(SummaryJson, NothingFinishedGivesNulls) {
  RunView view = grid();
  view.records.clear();
  view.best.reset();
  view.test.reset();
  view.state = "stopped";
  const auto json = nlohmann::json::parse(summary_json(view));
  EXPECT_TRUE(json.at("best").is_null());
  EXPECT_TRUE(json.at("test").is_null());
  EXPECT_EQ(json.at("fits"), 0);
  EXPECT_EQ(json.at("fits_planned"), 12);
  EXPECT_EQ(json.at("fit_s"), 0.0);
}

TEST(SummaryJson, NumbersAsTargetsHaveAnMse) {
  RunView view = grid(2, 2);
  view.test = TestResult{0, 50, 0.125};
  EXPECT_HAS(summary_json(view), "\"test\": {\n    \"n\": 50,\n    \"mse\": 0.125\n  }");
}

TEST(SummaryJson, HostileNumbersAndTextsStayValidJson) {
  RunView view = grid();
  view.name = "\xFF\xC0\"\\\x01";
  view.wall_s = std::numeric_limits<double>::infinity();
  view.efficiency = std::numeric_limits<double>::quiet_NaN();
  view.test = TestResult{0, 0};
  view.best = 4000;
  view.plan.candidates[0][0] = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(summary_json(view));
  EXPECT_TRUE(json.at("wall_s").is_null());
  EXPECT_TRUE(json.at("efficiency").is_null());
  EXPECT_TRUE(json.at("test").at("error").is_null());
  EXPECT_TRUE(json.at("best").is_null());
  view.best = 0;
  EXPECT_TRUE(nlohmann::json::parse(summary_json(view)).at("best").at("params").at("C").is_null());
}

TEST(Tables, AreWrittenToARunDirectory) {
  const test::Scratch root;
  RunView view = grid();
  write_tables(view, root.path());
  EXPECT_EQ(base::read_file(root / "results.csv"), results_csv(view));
  EXPECT_EQ(base::read_file(root / "candidates.csv"), candidates_csv(view));
  EXPECT_EQ(base::read_file(root / "timeline.csv"), timeline_csv(view));
  EXPECT_EQ(base::read_file(root / "summary.json"), base::seal(summary_json(view)));
  EXPECT_FALSE(std::filesystem::exists(root / "ensemble.csv")) << "no bagging";
  view.plan.bootstraps = 2;
  write_tables(view, root.path());
  EXPECT_EQ(base::read_file(root / "ensemble.csv"), ensemble_csv(view));
}

TEST(EpochsCsv, HasEveryEpochOfFitsAndRefits) {
  RunView view = two_candidates();
  EXPECT_EQ(epochs_csv(view), "") << "the model reports no curves";
  view.records[1].curves = {{"train_loss", {1.5, 0.5}}, {"validation_error", {0.25}}};
  testing::add_refit(view, 0, 1).curves = {{"train_loss", {2}}};
  EXPECT_EQ(epochs_csv(view),
            "candidate,bootstrap,fold,epoch,train_loss,validation_error\n"
            "0,0,1,1,1.5,0.25\n0,0,1,2,0.5,\n1,0,refit,1,2,\n");
  // Candidate 1 has no mean, so its fits are the first to be left out.
  view.records[1].curves[0].values.assign(150'000, 1);
  view.records[2].curves = {{"train_loss", std::vector<double>(150'000, 1)}};
  const std::string kept = epochs_csv(view);
  EXPECT_HAS(kept, "\n0,0,1,150000,1,\n");
  EXPECT_EQ(kept.find("\n1,0,0,"), std::string::npos);
  EXPECT_HAS(kept, "\n1,0,refit,1,2,\n");
}

TEST(Tables, AnEmptyRunHasHeadersOnly) {
  const RunView view;
  EXPECT_EQ(results_csv(view), "candidate,bootstrap,fold,n,status\n");
  EXPECT_EQ(candidates_csv(view), "candidate,bootstrap,mean,sd,min,max,rank,unsure\n");
  EXPECT_EQ(timeline_csv(view), "candidate,bootstrap,fold,bundle,node,device,start_s,end_s,attempt\n");
  EXPECT_EQ(nlohmann::json::parse(summary_json(view)).at("fits"), 0);
}

TEST(Format, CsvFieldsAreQuotedOnlyIfNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("a\rb"), "\"a\rb\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(Format, NumbersAreRoundedForReading) {
  EXPECT_EQ(pretty(0.0), "0");
  EXPECT_EQ(pretty(1000.0), "1000");
  EXPECT_EQ(pretty(0.0020152), "0.002015");
  EXPECT_EQ(pretty(9.99996), "10");
  EXPECT_EQ(pretty(1.5e-7), "1.5e-7");
  EXPECT_EQ(pretty(1e6), "1e6");
  EXPECT_EQ(pretty(-2.5e12), "-2.5e12");
  EXPECT_EQ(elide("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 3), "\xC3\xA9\xC3\xA9\xE2\x80\xA6");
}

}  // namespace
}  // namespace mokume::results
