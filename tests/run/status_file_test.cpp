#include "run/status_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.hpp"
#include "base/sealed.hpp"
#include "sdk/error.hpp"
#include "support/records.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;
using journal::EventRecord;
using Kind = EventRecord::Kind;

class StatusFileTest : public ::testing::Test {
 protected:
  StatusFileTest() {
    std::string name = ::testing::TempDir() + "mokume-status-XXXXXX";
    directory_ = mkdtemp(name.data());
    fs::create_directories(directory_ + "/logs");
  }
  ~StatusFileTest() override { fs::remove_all(directory_); }

  // Returns the status of a run on two nodes, with two devices and one, after one of ten fits.
  StatusFile file() {
    const std::vector<std::vector<cluster::LocalDevice>> nodes = {
        {{"opencl:0", "opencl", "Card", "", "", 8000}, {"host:0", "host", "CPU", "", "", 4000}},
        {{"opencl:0", "opencl", "Card", "", "", 9000}}};
    return {directory_, nodes, 10, {test::fit_record(0)}, [this] { return now_; }};
  }
  LiveStatus read() const {
    const auto found = read_live_status(directory_);
    EXPECT_TRUE(found.has_value());
    return found.value_or(LiveStatus());
  }

  std::string directory_;
  double now_ = 5000;
};

TEST_F(StatusFileTest, ExistsFromTheStart) {
  file();
  const LiveStatus status = read();
  EXPECT_EQ(status.time_s, 5000);
  EXPECT_EQ(status.pid, getpid());
  EXPECT_EQ(status.phase, "fits");
  EXPECT_EQ(status.fits, 10U);
  EXPECT_EQ(status.done, 1U);
  EXPECT_FALSE(status.eta_s.has_value());
  ASSERT_EQ(status.devices.size(), 3U);
  EXPECT_EQ(status.devices[2].node, 1U);
  EXPECT_EQ(status.devices[2].budget_bytes, 9000U);
  EXPECT_EQ(status.devices[0].state, "idle");
  EXPECT_FALSE(fs::exists(directory_ + "/logs/status.json.new"));
}

TEST_F(StatusFileTest, IsWrittenEveryTwoSecondsAtMost) {
  StatusFile status = file();
  now_ += 1.5;
  status.device_state(0, 1, "C = 10", 0.25);
  EXPECT_EQ(read().time_s, 5000);
  now_ += 0.5;
  status.device_state(0, 1, "C = 10", 0.5);
  EXPECT_EQ(read().time_s, 5002);
  EXPECT_EQ(read().devices[1].share, 0.5);
  EXPECT_EQ(read().devices[1].since_s, 5001.5);
  now_ += 0.25;
  status.phase("refitting");
  EXPECT_EQ(read().phase, "refitting") << "a phase does not wait";
}

TEST_F(StatusFileTest, ADeviceWithoutAReportIsIdle) {
  StatusFile status = file();
  status.device_state(0, 0, "C = 10", 0.5);
  now_ += 3;
  status.fit_done(test::fit_record(1));
  EXPECT_EQ(read().devices[0].state, "working");
  now_ += 3;
  status.fit_done(test::fit_record(2));
  EXPECT_EQ(read().devices[0].state, "idle");
  EXPECT_EQ(read().devices[0].since_s, 5000);
  EXPECT_EQ(read().devices[0].what, "");
  status.device_state(0, 0, "C = 1", 0.75);
  now_ += 2;
  status.device_state(0, 0, "C = 1", 0.1);  // the next item
  EXPECT_EQ(read().devices[0].since_s, 5008);
}

TEST_F(StatusFileTest, PredictsTheEndFromThePaceOfThisSession) {
  StatusFile status = file();
  now_ += 10;
  status.fit_done(test::fit_record(1));
  EXPECT_DOUBLE_EQ(read().eta_s.value_or(-1), 10.0 * 8) << "8 of 10 are left, one took 10 s";
  journal::FitRecord failed = test::fit_record(2);
  failed.status = journal::FitStatus::failed;
  for (failed.fit = 2; failed.fit < 10; ++failed.fit) status.fit_done(failed);
  status.phase("refitting");
  EXPECT_EQ(read().failed, 8U);
  EXPECT_EQ(read().eta_s, 0);
}

// Returns a workload of single fits, each at its own place on a line.
scheduler::Workload line_of(const std::vector<double>& costs) {
  scheduler::Workload workload;
  for (uint32_t fit = 0; fit < costs.size(); ++fit) {
    workload.bundles.push_back({{fit}, costs[fit], 0});
    workload.positions.push_back({0, 0, {static_cast<double>(fit) / static_cast<double>(costs.size())}});
  }
  return workload;
}

journal::FitRecord timed(uint32_t fit, double start_s, double end_s, const std::string& device = "host:0") {
  journal::FitRecord record = test::fit_record(fit);
  record.start_s = start_s;
  record.end_s = end_s;
  record.device = device;
  record.device_class = "host";
  return record;
}

const std::vector<std::string> kOne = {"host"}, kTwo = {"host", "host"};

// A grid begins with its longest fits.
TEST(Eta, WeighsFitsByTheirPredictedCosts) {
  Eta eta(line_of({100, 100, 10, 10, 10}), 6, {}, 0);  // fit 5 is a refit, which weighs 46
  EXPECT_FALSE(eta.seconds_left(10, kOne, 0, 0).has_value());
  eta.done(timed(0, 5, 25));  // loading took 5 s of these 25 s
  eta.settle(26);
  EXPECT_NEAR(eta.seconds_left(25, kOne, 0, 0).value(), 20.0 / 100 * 176, 1e-9);
  EXPECT_NEAR(eta.seconds_left(25, kTwo, 0, 0).value(), 10.0 / 100 * 176, 1e-9);
  eta.done(timed(1, 25, 45));
  eta.settle(46);
  EXPECT_NEAR(eta.seconds_left(45, kOne, 0, 0).value(), 20.0 / 100 * 76, 1e-9);
  for (const uint32_t fit : {2U, 3U, 4U}) eta.done(timed(fit, 45 + 2 * (fit - 2.0), 47 + 2 * (fit - 2.0)));
  eta.settle(52);
  EXPECT_NEAR(eta.seconds_left(51, kOne, 0.5, 0.5).value(), 20.0 / 100 * 46 / 2, 1e-9);
  eta.done(timed(5, 51, 60));
  EXPECT_EQ(eta.seconds_left(60, kOne, 0, 0), 0);
}

// The model guesses equal costs, but fits at the end of the line take ten times as long.
TEST(Eta, LearnsFromNeighbours) {
  std::vector<journal::FitRecord> done;
  double now_s = 0;
  for (const uint32_t fit : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 9U}) {
    const double took = fit < 6 ? 1 : 10;
    done.push_back(timed(fit, now_s, now_s + took));
    now_s += took;
  }
  const Eta eta(line_of(std::vector<double>(10, 1)), 10, done, now_s);
  const double left = eta.seconds_left(now_s, kOne, 0, 0).value(), pace = 26.0 / 8 * 2;
  EXPECT_GT(left, 1.1 * pace) << "fit 7 is next to a long one";
  EXPECT_LT(left, 20);
}

// A bundle delivers its fits in batches; the first fit of a batch arrives milliseconds before the others.
TEST(Eta, DividesTheTimeOfABatchAmongItsFits) {
  scheduler::Workload workload = line_of(std::vector<double>(40, 1));
  workload.bundles = {{{}, 20, 0}, {{}, 20, 0}};
  for (uint32_t fit = 0; fit < 40; ++fit) workload.bundles[fit / 20].fits.push_back(fit);
  Eta eta(workload, 40, {}, 0);
  for (uint32_t fit = 0; fit < 10; ++fit) eta.done(timed(fit, 0, 5 + 0.001 * fit));
  eta.settle(6);
  EXPECT_NEAR(eta.seconds_left(6, kOne, 0.5, 0.5).value(), 15, 0.1);
  for (uint32_t fit = 10; fit < 20; ++fit) eta.done(timed(fit, 0, 10 + 0.001 * fit));
  eta.settle(11);
  EXPECT_NEAR(eta.seconds_left(11, kOne, 0, 0).value(), 10, 0.1);
}

// Records are in plan order, but a run begins with its longest fits.
TEST(Eta, TakesEarlierFitsInTheOrderOfTime) {
  const Eta eta(line_of({1, 1, 1, 1}), 4, {timed(0, 30, 40), timed(1, 20, 30), timed(2, 0, 20)}, 1000);
  const Eta sorted(line_of({1, 1, 1, 1}), 4, {timed(2, 0, 20), timed(1, 20, 30), timed(0, 30, 40)}, 1000);
  EXPECT_GT(eta.seconds_left(1000, kOne, 0, 0).value(), 10);
  EXPECT_EQ(eta.seconds_left(1000, kOne, 0, 0), sorted.seconds_left(1000, kOne, 0, 0));
}

TEST(Eta, KnowsThePaceOfEarlierSessions) {
  const Eta eta(line_of({1, 1}), 2, {timed(0, 100, 107)}, 1000);
  EXPECT_NEAR(eta.seconds_left(1000, kOne, 0, 0).value(), 7, 1e-9);
}

TEST_F(StatusFileTest, RetiredAndLostDevicesStayRetiredAndLost) {
  StatusFile status = file();
  now_ += 3;
  status.event(test::event_record(5002, Kind::retired, 0, "host:0", -1, 0, "it failed twice"));
  EXPECT_EQ(read().devices[1].state, "retired");
  EXPECT_EQ(read().devices[1].what, "it failed twice");
  EXPECT_EQ(read().devices[1].since_s, 5002);
  EXPECT_EQ(read().devices[0].state, "idle");
  now_ += 3;
  status.event(test::event_record(5005, Kind::lost, 0, "", -1, 0, "silent"));
  status.device_state(0, 1, "late news", 0.5);
  status.phase("fits");
  EXPECT_EQ(read().devices[0].state, "lost");
  EXPECT_EQ(read().devices[1].state, "retired");
  EXPECT_EQ(read().devices[2].state, "idle") << "of another node";
  status.event(test::event_record(5007, Kind::returned, 0, "", -1, 0, ""));
  status.event(test::event_record(5007, Kind::failed, 1, "opencl:0", 3, 1, "an attempt"));
  status.phase("fits");
  EXPECT_EQ(read().devices[0].state, "idle");
  EXPECT_EQ(read().devices[1].state, "retired");
  EXPECT_EQ(read().devices[2].state, "idle");
}

TEST_F(StatusFileTest, IsRemovedAfterItsSession) {
  file();
  remove_live_status(directory_);
  EXPECT_FALSE(read_live_status(directory_).has_value());
  EXPECT_NO_THROW(remove_live_status(directory_));
}

TEST_F(StatusFileTest, AFailureToWriteItDoesNotStopTheRun) {
  fs::remove_all(directory_ + "/logs");
  StatusFile status = file();
  EXPECT_NO_THROW(status.phase("fits"));
  EXPECT_NO_THROW(write_bundles(directory_, {}));
  EXPECT_FALSE(read_live_status(directory_).has_value());
  EXPECT_TRUE(read_bundles(directory_).empty());
}

TEST_F(StatusFileTest, ADamagedFileIsNamed) {
  const auto expect_named = [&](const auto& read, const std::string& name, const std::string& text) {
    std::ofstream(directory_ + name) << text;
    try {
      read(directory_);
      ADD_FAILURE() << name << ": " << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA);
      EXPECT_EQ(std::string(e.what()).find(directory_ + name + " is damaged"), 0U) << e.what();
    }
  };
  for (const char* text : {"", "{", "{\"time\":1}", "{\"time\":\"now\"}", "[{\"fits\":7}]", "[1]"}) {
    expect_named(read_live_status, "/logs/status.json", text);
    expect_named(read_bundles, "/logs/pieces.json", text);
  }
  file();
  write_bundles(directory_, {{{0, 2}, 3, 1000, 0}});
  for (const std::string name : {"/logs/status.json", "/logs/pieces.json"}) {
    std::ifstream in(directory_ + name);
    std::string whole{std::istreambuf_iterator<char>(in), {}};
    for (size_t at = 0; at + 1 < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      if (name == "/logs/status.json")
        expect_named(read_live_status, name, flipped);
      else
        expect_named(read_bundles, name, flipped);
    }
  }
}

TEST_F(StatusFileTest, FilesOfOtherVersionsAreReadOrIgnored) {
  std::ofstream(directory_ + "/logs/status.json") << base::seal("{\"heard\":1}");
  EXPECT_FALSE(read_live_status(directory_).has_value());
  write_bundles(directory_, {{{0, 2}, 3, 1000, 0}});
  const auto written = read_bundles(directory_);
  std::ofstream(directory_ + "/logs/pieces.json") << base::to_json(written);
  ASSERT_EQ(read_bundles(directory_).size(), 1U) << "older versions wrote the list alone";
  EXPECT_EQ(read_bundles(directory_)[0].bytes, 1000U);
}

TEST_F(StatusFileTest, KeepsTheBundlesAndTheCostsOfTheirFits) {
  write_bundles(directory_, {{{0, 2}, 3, 1000, 0}, {{1}, std::nan(""), 5, 1}});
  const auto bundles = read_bundles(directory_);
  ASSERT_EQ(bundles.size(), 2U);
  EXPECT_EQ(bundles[0].fits, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(bundles[0].bytes, 1000U);
  EXPECT_TRUE(std::isnan(bundles[1].cost));
  const std::vector<double> costs = cost_by_fit(bundles, 3);
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_EQ(costs[0], 1.5);
  EXPECT_EQ(costs[2], 1.5);
  EXPECT_TRUE(cost_by_fit({}, 3).empty());
}

}  // namespace
}  // namespace mokume::run
