#include "inspect/inspect.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "inspect/inspection.hpp"
#include "run/run_directory.hpp"

namespace mokume::inspect {
namespace {

using testing::killed;
using testing::running;

TEST(Inspect, ALiveRunShowsWhatEachDeviceDoesAndForHowLong) {
  const std::string text = status_text(running());
  EXPECT_HAS(text, "runs/tiny/1: live on somewhere (process 77), 4 of 6 fits, ETA 3 min 10 s\n");
  EXPECT_HAS(text, "working for 12 s: C = 10, 45 %");
  EXPECT_HAS(text, "1/host:0");
  EXPECT_HAS(text, "idle for 10 s");
  EXPECT_HAS_NOT(text, "next:");
  Inspection run = running();
  run.last->eta_s.reset();
  EXPECT_HAS(status_text(run), "ETA unknown");
  run.last->phase = "refitting C = 10 on 20 rows";
  EXPECT_HAS(status_text(run), "  refitting C = 10 on 20 rows\n");
  run.last.reset();
  EXPECT_HAS(status_text(run), "runs/tiny/1: live, starting, 4 of 6 fits\n");
}

TEST(Inspect, TheBestCandidateSoFarIsShown) {
  Inspection run = running();
  EXPECT_HAS(status_text(run), "\n  best so far: error 30 % with C = 0.1\n");
  const auto best = status_json(run)["best"];
  EXPECT_EQ(best["candidate"], 0);
  EXPECT_EQ(best["metric"], "error");
  EXPECT_DOUBLE_EQ(best["mean"].get<double>(), 0.3);
  EXPECT_EQ(best["params"], (nlohmann::ordered_json{{"C", 0.1}}));
  run.view.records.resize(1);
  EXPECT_HAS_NOT(status_text(run), "best");
  EXPECT_TRUE(status_json(run)["best"].is_null());
}

TEST(Inspect, ARunThatNoProcessHoldsIsDeadWhateverItsRecord) {
  const Inspection run = killed();
  EXPECT_EQ(state_of(run), "dead (killed)");
  const std::string text = status_text(run);
  EXPECT_HAS(text, "runs/tiny/1: dead (killed), 4 of 6 fits\n");
  EXPECT_HAS(text, "last heard from 2.0 s ago");
  EXPECT_HAS(text, "was working: C = 10, 45 %");
  EXPECT_HAS(text, "next: mokume resume runs/tiny/1 continues where it stopped\n");
  EXPECT_HAS_NOT(text, "ETA");
}

TEST(Inspect, ARunWithoutAStatusFileShowsOnlyItsJournal) {
  Inspection run = killed();
  run.last.reset();
  run.bundles.clear();
  EXPECT_HAS(status_text(run), "dead (killed), 4 of 6 fits\n");
  EXPECT_HAS(status_text(run), "next: mokume resume");
  EXPECT_TRUE(status_json(run)["host"].is_null());
}

TEST(Inspect, AStopIsReportedOnce) {
  EXPECT_EQ(stop_text(""), "stopped");
  EXPECT_EQ(stop_text("stopped on request: Ctrl-C"), "stopped on request: Ctrl-C");
  EXPECT_EQ(stop_text("node 1 was lost"), "stopped (node 1 was lost)");
}

TEST(Inspect, AStoppedRunReportsWhyAndHowToResume) {
  Inspection run = killed();
  run.view.state = "stopped";
  run.exit_reason = "stopped on request";
  const std::string text = status_text(run);
  EXPECT_HAS(text, ": stopped on request, 4 of 6 fits\n");
  EXPECT_HAS(text, "next: mokume resume");
  EXPECT_HAS_NOT(text, "last heard");
}

TEST(Inspect, AFinishedRunNeedsNoNextStep) {
  Inspection run = killed();
  run.view.state = "done";
  for (uint32_t fit = 4; fit < 6; ++fit) run.view.records.push_back(test::fit_record(fit));
  EXPECT_HAS(status_text(run), ": done, 6 of 6 fits\n");
  EXPECT_EQ(next_step(run), "");
  run.view.records.back().status = journal::FitStatus::failed;
  run.view.state = "failed fits";
  EXPECT_HAS(status_text(run), "6 of 6 fits, 1 failed\n");
  run.view.plan.bootstraps = 3;
  run.view.refits.resize(2);
  EXPECT_HAS(status_text(run), "6 of 18 fits, 2 of 3 refits, 1 failed\n");
  run.view.plan.bootstraps = 1;
  EXPECT_HAS(next_step(run), "mokume explain");
  run.view.plan.folds = 0;
  run.view.records.clear();
  EXPECT_HAS(status_text(run), "no validation, one refit");
}

TEST(Inspect, ShowsLostDevicesAndDisagreements) {
  Inspection run = running();
  run.last->devices[1].state = "lost";
  run.last->devices[1].what = "silent for 30 s";
  run.view.events = {test::event_record(1090, journal::EventRecord::Kind::lost, 1, "", -1, 0, "silent for 30 s")};
  run.view.disagreements = {{2, true, "fit 2 has one result here and another there"}};
  const std::string text = status_text(run);
  EXPECT_HAS(text, "lost 10 s ago: silent for 30 s");
  EXPECT_HAS(text, "1 event: see mokume explain runs/tiny/1\n");
  EXPECT_HAS(text, "fit 2 has one result here");
}

TEST(Inspect, ReportsTheSameToPrograms) {
  Inspection run = running();
  auto json = status_json(run);
  EXPECT_EQ(json["state"], "live");
  EXPECT_EQ(json["live"], true);
  EXPECT_EQ(json["fits"], 4);
  EXPECT_EQ(json["fits_planned"], 6);
  EXPECT_EQ(json["eta_s"], 190);
  EXPECT_EQ(json["heard_s"], 2);
  ASSERT_EQ(json["devices"].size(), 2U);
  EXPECT_EQ(json["devices"][0]["state"], "working");
  EXPECT_EQ(json["devices"][0]["share"], 0.45);
  EXPECT_EQ(json["devices"][0]["since_s"], 12);
  EXPECT_EQ(json["devices"][1]["fits"], 0);
  json = status_json(killed());
  EXPECT_EQ(json["state"], "dead (killed)");
  EXPECT_TRUE(json["eta_s"].is_null());
  EXPECT_HAS(json["next"].get<std::string>(), "mokume resume");
}

TEST(IsHeld, DependsOnlyOnTheLock) {
  std::string pattern = ::testing::TempDir() + "mokume-held-XXXXXX";
  const std::string path = mkdtemp(pattern.data());
  EXPECT_FALSE(run::is_held(path)) << "there is no lock";
  const int file = ::open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  EXPECT_FALSE(run::is_held(path));
  ASSERT_EQ(flock(file, LOCK_EX), 0);
  EXPECT_TRUE(run::is_held(path));
  EXPECT_TRUE(run::is_held(path));
  ::close(file);
  EXPECT_FALSE(run::is_held(path));
  std::ofstream(path + "/run.json") << "{}";
  EXPECT_NO_THROW(run::RunDirectory::open(path)) << "asking has not kept it";
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace mokume::inspect
