#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/files.hpp"
#include "report/charts/gantt.hpp"
#include "report/pages/html.hpp"
#include "report/pages/write.hpp"
#include "report/support.hpp"
#include "sdk/error.hpp"
#include "support/scratch.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;
using testing::grid;
using testing::occurrences;
using testing::page;
using testing::xml_fault;

TEST(Html, HoldsTheHeadlineAndEveryPlot) {
  const results::RunView view = grid(5, 3);
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_HAS(text, "<h1>tiny</h1>");
  EXPECT_HAS(text, "<b>10.00\u00A0%</b>");
  EXPECT_HAS(text, "interval 4.35 to 21.36");  // Wilson's interval for 5 of 50
  EXPECT_HAS(text, "<dt>gamma</dt><dd>0.003</dd>");
  EXPECT_EQ(occurrences(text, "<svg"), 5U);  // heat map, three box plots, devices
  EXPECT_EQ(occurrences(text, "<style>"), 1U);
  EXPECT_HAS(text, "mokume run tiny.toml");
  EXPECT_HAS(text, "name = &quot;tiny&quot;");
}

TEST(Html, OnlyThePageOfALiveRunReloadsItself) {
  const results::RunView view = grid(5, 3);
  const std::string meta = "<meta http-equiv=\"refresh\" content=\"30\"/>";
  EXPECT_HAS_NOT(page(view), "refresh");
  const std::string live = report_html(view, {}, true);
  EXPECT_HAS(live, meta);
  EXPECT_EQ(xml_fault(live), "");
}

TEST(Html, RefersToNoOtherFile) {
  const std::string text = page(grid(5, 3));
  for (const char* part : {" src=", " href=", "@import", "url(", "<link", "@font-face"}) {
    EXPECT_HAS_NOT(text, part) << part;
  }
  // The only address is the SVG namespace.
  EXPECT_EQ(occurrences(text, "http"), occurrences(text, "http://www.w3.org/2000/svg"));
}

TEST(Html, ShowsThe20BestCandidatesInOrder) {
  const results::RunView view = grid(9, 5);
  const std::string text = page(view);
  EXPECT_HAS(text, "The 20 best of 45 candidates");
  EXPECT_EQ(occurrences(text, "<tr><td class=\"n\">") + occurrences(text, "<tr class=\"first\"><td class=\"n\">"), 21U);
}

TEST(Html, WarnsOfTheBestOfManyCandidatesOnlyIfThereAreMany) {
  results::TestResult pooled;
  pooled.n = 20, pooled.errors = 3;
  pooled.confusion = data::Confusion{3, {5, 1, 1, 0, 6, 0, 0, 1, 6}};
  results::RunView one = grid(1, 1), many = grid(2, 1);
  one.class_names = many.class_names = {"a", "b", "c"};
  one.validated = many.validated = pooled;
  EXPECT_HAS(page(many), "by the best candidate in the fold that validates it. The best of many candidates is");
  EXPECT_HAS(page(one), "Each row was predicted in the fold that validates it.");
  EXPECT_HAS_NOT(page(one), "best of many");
}

// The script of the page scrolls a plot to its mark on narrow screens.
TEST(Html, PlotsHoldTheMarkAtWhichANarrowScreenBegins) {
  const std::string text = page(grid(5, 3));
  EXPECT_HAS(text, ".querySelector(\".core, .star\")");
  EXPECT_HAS(text, "class=\"core\"");
  EXPECT_HAS(text, "class=\"star\"");
}

TEST(Html, ReportsThatBoxPlotsWereLeftOut) {
  EXPECT_HAS(page(grid(2, 90)), "shows the 16 of 90 plots");
  EXPECT_HAS_NOT(page(grid(2, 9)), "shows the");
}

TEST(Html, ShowsCountsAndNotesOfFits) {
  results::RunView view = grid(3, 2);
  view.records[0].status = journal::FitStatus::failed;
  view.records[0].note = "out of memory <b>";
  view.records[1].status = journal::FitStatus::capped;
  view.records[1].note = "cap";
  view.records[2].status = journal::FitStatus::copied;
  view.records[2].note = "kept for resume";
  view.records[4].values[1] = std::numeric_limits<double>::quiet_NaN();
  view.records.pop_back();
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_HAS(text, "out of memory &lt;b&gt;");
  EXPECT_HAS_NOT(text, "kept for resume");
  EXPECT_HAS(text, "<b>8</b>done");
  EXPECT_HAS(text, "<b>1</b>without a finite value");
  EXPECT_HAS(text, "<b>1</b>not finished");
  EXPECT_HAS(text, "of 12 planned, 1 failed");
}

TEST(Html, ListsFailuresIfThereAreAny) {
  results::RunView view = grid(3, 2);
  EXPECT_HAS_NOT(page(view), "What went wrong");
  view.events = {{1002.5, journal::EventRecord::Kind::failed, 1, "opencl:0", 5, 2, "driver said <no>"},
                 {1010.5, journal::EventRecord::Kind::lost, 3, "", -1, 0, "silent for 30 s"}};
  view.disagreements = {{4, true, "fit 4 has one result here & another there"}};
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  for (const char* part : {"<td>failed</td>", "fit 5: candidate 2, fold 1", "driver said &lt;no&gt;", "<td>lost</td>",
                           "silent for 30 s", "one result here &amp; another", "<td class=\"n\">2\u00A0s</td>"})
    EXPECT_HAS(text, part) << part;
  view.plan.bootstraps = 2;
  EXPECT_HAS(page(view), "fit 5: candidate 1, bootstrap 0, fold 1");
  view.events.assign(150, view.events[0]);
  EXPECT_HAS(page(view), "50 more events");
}

TEST(Html, NamesTheSourceOfTheSpeeds) {
  results::RunView view = grid(3, 2);
  view.devices.push_back({0, "host:0", "host", "CPU", "Maker", 0, 0, 0.3125});
  EXPECT_HAS(page(view), "measured before the run");
  EXPECT_HAS(page(view), "<td class=\"n\" data-v=\"0.3125\">25.0");
  view.speeds = results::Speeds::estimated;
  EXPECT_HAS(page(view), "estimated from the work");
}

TEST(Html, HostileTextsStayText) {
  results::RunView view = grid(3, 2);
  const std::string evil = "</script></pre><script>alert(1)</script>\"'&\x01\xFF";
  view.name = view.model = view.seed = view.data_name = view.state = view.config_toml = view.reproduce = evil;
  view.environment = evil + ": " + evil + "\n" + evil;
  view.plan.params = {evil, "b"};
  view.devices[0].name = view.devices[0].vendor = view.devices[0].id = evil;
  for (auto& r : view.records) r.device = r.note = evil;
  view.events = {{0, journal::EventRecord::Kind::failed, 0, evil, 1, 1, evil}};
  view.disagreements = {{1, false, evil}};
  view.records[0].status = journal::FitStatus::failed;
  view.metrics[1].name = evil;
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_EQ(occurrences(text, "<script>"), 1U);
  EXPECT_HAS_NOT(text, "alert(1)</script>");
}

TEST(Html, AcceptsUnfinishedAndEmptyRuns) {
  results::RunView view = grid(5, 3);
  view.records.resize(7);
  view.best.reset();
  view.test.reset();
  EXPECT_EQ(xml_fault(page(view)), "");
  view.records.clear();
  EXPECT_EQ(xml_fault(page(view)), "");
  EXPECT_EQ(xml_fault(page(results::RunView{})), "");
  EXPECT_HAS(page(results::RunView{}), "nothing to plot");
}

TEST(Html, ARunWithoutValidationHasNothingToCompare) {
  results::RunView view = grid(1, 1);
  view.plan.folds = 0;
  view.records.clear();
  view.best = 0;
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_HAS(text, "none was requested");
  EXPECT_HAS(text, "1 candidate, no validation");
  EXPECT_HAS(text, "10.00\u00A0%") << "the test error";
  EXPECT_TRUE(plots(view).empty());
}

TEST(Html, NumbersAsTargetsHaveAnMse) {
  results::RunView view = grid(2, 2);
  view.test = results::TestResult{0, 50, 0.125};
  EXPECT_HAS(page(view), "<span>Test MSE</span><b>0.125</b><span>50 rows</span>");
}

TEST(Html, AcceptsHostileNumbers) {
  results::RunView view = grid(3, 2);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  view.wall_s = nan, view.efficiency = inf, view.devices[0].busy_s = -1;
  view.test = results::TestResult{-3, 5};
  view.data_rows = -4;
  view.best = 77;
  view.records[0].start_s = nan, view.records[1].end_s = inf, view.records[2].start_s = -1e300;
  view.records[3].end_s = view.records[3].start_s - 1;
  view.events = {{nan, journal::EventRecord::Kind::moved, 0, "", 4000, 0, ""}, {inf, {}, 0, "", -7, 0, ""}};
  view.devices[0].speed = inf;
  EXPECT_EQ(xml_fault(page(view)), "");
}

TEST(Html, ShowsWhatACarefulReaderWouldNotice) {
  results::RunView view = grid();
  view.guess = 0.667;
  EXPECT_HAS_NOT(page(view), "Warnings");
  EXPECT_HAS_NOT(page(view), "ill-determined");
  view.guess = 0.45;  // the mean error of the best candidate
  EXPECT_HAS(page(view), "always answering the most frequent class");
  const uint32_t folds = view.plan.fits_per_candidate();
  for (uint32_t fold = 0; fold < folds; ++fold) {
    view.records[*view.best * folds + fold].n = 100;
    view.records[*view.best * folds + fold].note = "unsure=3";
  }
  EXPECT_HAS(page(view), fmt::format("<b>{}</b>ill-determined", folds));
}

TEST(Html, HasTheTimesOfAProfiledRun) {
  results::RunView view = grid();
  EXPECT_HAS_NOT(page(view), "Where the time went");
  view.profiles = {{1, "opencl:0", "Card <&>", {{"forward", "gemm 2x3x4", 7, 3.0, 6e9, 3e9}}}};
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_HAS(text, "Where the time went");
  EXPECT_HAS(text, "Node 1, opencl:0 (Card &lt;&amp;&gt;): 3");
  EXPECT_HAS(text, "<td>forward</td><td>gemm 2x3x4</td><td class=\"n\" data-v=\"7\">7</td>");
}

TEST(Gantt, HasOneLanePerDeviceAndOneBarPerBundle) {
  results::RunView view = grid(3, 2);
  for (size_t i = 6; i < 12; ++i) view.records[i].device = "host:0";
  const std::string chart = gantt(view);
  EXPECT_EQ(xml_fault(chart), "");
  EXPECT_EQ(occurrences(chart, "class=\"lane\""), 2U);
  EXPECT_EQ(occurrences(chart, "class=\"bar\"") + occurrences(chart, "class=\"alt\""), 6U);
  EXPECT_HAS(chart, "bundle 0, 2 fits, 0.75");
}

TEST(Gantt, LongPausesBetweenSessionsAreCutOut) {
  results::RunView view = grid(3, 2);
  EXPECT_HAS_NOT(gantt(view), "later");
  for (size_t i = 6; i < 12; ++i) view.records[i].start_s += 7200, view.records[i].end_s += 7200;
  const std::string chart = gantt(view);
  EXPECT_HAS(chart, "2 h 00 min later");
  EXPECT_EQ(occurrences(chart, "class=\"gap\""), 1U);
}

TEST(Gantt, ManyBundlesStaySmall) {
  results::RunView view = grid(200, 25);
  EXPECT_LT(gantt(view).size(), 200000U);
  for (auto& r : view.records) r.start_s = r.end_s = 5;
  EXPECT_EQ(gantt(view), "");
}

class WriteTest : public ::testing::Test {
 protected:
  std::string read(const std::string& name) const { return base::read_file(root_ / name); }
  void put(const std::string& name, const std::string& text) const { base::write_file(root_ / name, text); }

  test::Scratch root_;
};

TEST_F(WriteTest, TheSameViewGivesTheSameBytes) {
  const results::RunView view = grid(5, 3);
  const char* names[] = {"report.html", "plots/heatmap.svg", "plots/box-gamma-2.svg"};
  write(view, root_.path());
  std::vector<std::string> first;
  for (const char* name : names) first.push_back(read(name));
  write(view, root_.path());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(read(names[i]), first[i]) << names[i];
  EXPECT_EQ(first[0], page(view));
}

TEST_F(WriteTest, RemovesThePlotsOfAnEarlierReportAndNothingElse) {
  write(grid(5, 3), root_.path());
  put("plots/mine.txt", "kept");
  write(grid(5, 2), root_.path());
  EXPECT_FALSE(fs::exists(root_ / "plots/box-gamma-2.svg"));
  EXPECT_TRUE(fs::exists(root_ / "plots/box-gamma-1.svg"));
  EXPECT_TRUE(fs::exists(root_ / "plots/mine.txt"));
}

TEST_F(WriteTest, AFileInPlaceOfADirectoryIsAnError) {
  put("plots", "");
  try {
    write(grid(), root_.path());
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    EXPECT_HAS(std::string(e.what()), "plots");
  }
}

TEST_F(WriteTest, AnEmptyRunWorks) {
  write(results::RunView{}, root_.path());
  EXPECT_TRUE(fs::is_empty(root_ / "plots"));
}

}  // namespace
}  // namespace mokume::report
