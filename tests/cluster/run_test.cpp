// Tests whole runs of agents, coordinator, journals and feeders, over nodes that are threads of this process.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "cluster/run_fixture.hpp"

namespace mokume::cluster {
namespace {

TEST_F(RunTest, OneNodeDoesEveryFit) { expect_all_done(run_nodes(1, do_all)[0]); }

TEST_F(RunTest, ThreeNodesDoEveryFitOnceAndAllTakePart) {
  std::mutex mutex;
  std::map<uint32_t, uint32_t> times;
  AllStarted all_started(6);
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    {
      const std::lock_guard lock(mutex);
      for (const uint32_t fit : item.fits) ++times[fit];
    }
    all_started(node, device);
    do_all(node, device, item, reporter);
  });
  expect_all_done(results[0]);
  for (const Result& one : results) {
    EXPECT_EQ(one.error, "");
    EXPECT_TRUE(one.outcome.finished);
  }
  EXPECT_TRUE(results[1].outcome.records.empty());
  EXPECT_EQ(times.size(), n_fits_);
  for (const auto& [fit, count] : times) EXPECT_LE(count, 2u) << fit;  // a straggler may get a copy
  EXPECT_EQ(all_started.size(), 6u);
  for (const journal::RecordedSession& one : read().sessions) EXPECT_TRUE(one.closed);
}

TEST_F(RunTest, AFitIsInItsNodesJournalBeforeRankZeroReceivesIt) {
  uint32_t heard = 0, missing = 0;
  on_record_ = [&](const journal::FitRecord& record) {
    std::ifstream in(journals() + "/" + journal::file_name(record.node, record.node));
    std::ostringstream text;
    text << in.rdbuf();
    ++heard;
    if (text.str().find("{\"fit\":" + std::to_string(record.fit) + ",") == std::string::npos) ++missing;
  };
  expect_all_done(run_nodes(2, do_all)[0]);
  EXPECT_EQ(heard, n_fits_);
  EXPECT_EQ(missing, 0u);
}

TEST_F(RunTest, ANodeIsToldOnceItsFitIsOnTheDisk) {
  std::mutex mutex;
  std::set<uint32_t> told;
  uint32_t calls = 0, missing = 0;
  on_durable_ = [&](uint32_t node, uint32_t fit) {
    std::ifstream in(journals() + "/" + journal::file_name(node, node));
    std::ostringstream text;
    text << in.rdbuf();
    const std::lock_guard lock(mutex);
    told.insert(fit);
    ++calls;
    if (text.str().find("{\"fit\":" + std::to_string(fit) + ",") == std::string::npos) ++missing;
  };
  expect_all_done(run_nodes(2, do_all)[0]);
  EXPECT_EQ(told.size(), n_fits_);
  EXPECT_GE(calls, n_fits_);  // more if a straggler got a copy
  EXPECT_EQ(missing, 0u);
}

TEST_F(RunTest, RecordsWhereAndWhenEachFitRan) {
  n_fits_ = bundle_size_ = 2;
  devices_ = 1;
  const auto results = run_nodes(1, [](uint32_t, uint32_t, const Attempt& item, Reporter& reporter) {
    reporter.report(result_of(item.fits[0]));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reporter.report(result_of(item.fits[1]));
  });
  ASSERT_EQ(results[0].outcome.records.size(), 2u);
  const journal::FitRecord &first = results[0].outcome.records[0], &second = results[0].outcome.records[1];
  EXPECT_EQ(first.device, "host:0");
  EXPECT_EQ(first.start_s, second.start_s);
  EXPECT_GE(second.end_s - first.end_s, 0.019);
  EXPECT_GT(first.start_s, 1.6e9);
}

TEST_F(RunTest, AQuickDeviceTakesMoreThanASlowOne) {
  n_fits_ = 40;
  bundle_size_ = 1;
  std::atomic<uint32_t> by_slow{0};
  AllStarted all_started(4);
  run_nodes(2, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    all_started(node, device);
    const bool slow = node == 1 && device == 1;
    if (slow) ++by_slow;
    std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 300 : 5));
    do_all(node, device, item, reporter);
  });
  EXPECT_GE(by_slow, 1u);
  EXPECT_LE(by_slow, 5u);  // an even split would give it 10
}

TEST_F(RunTest, AStopCancelsEverywhereAndTheNextRunResumes) {
  std::atomic<uint32_t> done{0};
  AllStarted all_started(6);  // a node that is stopped before its first fit reports an error
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    all_started(node, device);
    const uint32_t turn = ++done;
    if (turn == 8) stop_ = true;
    if (turn >= 8) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!reporter.cancelled() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      if (reporter.cancelled()) throw Error(MK_CANCELLED, "cancelled");
    }
    do_all(node, device, item, reporter);
  });
  for (const Result& one : results) {
    EXPECT_EQ(one.error, "");
    EXPECT_FALSE(one.outcome.finished);
    EXPECT_EQ(one.outcome.reason, "stopped on request");
  }
  const size_t kept = read().records.size();
  EXPECT_LE(kept, 7u * bundle_size_);
  EXPECT_GE(kept, 1u);
  EXPECT_EQ(results[0].outcome.records.size(), kept);
  stop_ = false;
  std::atomic<uint32_t> again{0};
  const auto resumed = run_nodes(2, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    again += static_cast<uint32_t>(item.fits.size());
    do_all(node, device, item, reporter);
  });
  expect_all_done(resumed[0]);
  EXPECT_GE(again, n_fits_ - kept);
}

// The loop of a single node sleeps until something happens, but must notice a flag that another thread sets.
TEST_F(RunTest, AStopWakesASleepingNode) {
  std::atomic<bool> working{false};
  std::thread outside([&] {
    while (!working) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop_ = true;
  });
  const auto results = run_nodes(1, [&](uint32_t, uint32_t, const Attempt&, Reporter& reporter) {
    working = true;
    for (int i = 0; i < 3000 && !reporter.cancelled(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  outside.join();
  EXPECT_FALSE(results[0].outcome.finished);
  EXPECT_EQ(results[0].error, "");
}

TEST_F(RunTest, PassesOnTheNotesOfFinishedFits) {
  {
    journal::Journal journal(journals(), 0, make_plan(n_fits_));
    for (const uint32_t fit : {3u, 5u, 20u}) journal.append(result_of(fit));
    journal.close("killed, say");
  }
  std::mutex mutex;
  std::map<uint32_t, std::string> notes;
  const auto results = run_nodes(2, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    {
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < item.done_fits.size(); ++i) notes[item.done_fits[i]] = item.done_notes[i];
    }
    do_all(node, device, item, reporter);
  });
  expect_all_done(results[0]);
  EXPECT_EQ(notes, (std::map<uint32_t, std::string>{{3, "n3"}, {5, "n5"}, {20, "n20"}}));
}

TEST_F(RunTest, ReportsTheStateOfDevicesToRankZero) {
  n_fits_ = bundle_size_ * 4;
  std::atomic<uint32_t> nodes{0};  // one bit per node
  std::string what;
  double share = 0;
  on_device_state_ = [&](uint32_t node, uint32_t, const std::string& text, double part) {
    what = text;
    share = part;
    nodes |= 1u << node;
  };
  AllStarted all_started(4);
  run_nodes(2, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    reporter.progress("gamma 0.1", 7.5);  // more than the whole counts as the whole
    all_started(node, device);
    for (int i = 0; i < 6000 && nodes != 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    do_all(node, device, item, reporter);
  });
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(what, "gamma 0.1");
  EXPECT_EQ(share, 1.0);
}

TEST_F(RunTest, AFullDiskEndsTheRunAndOnlyWrittenFitsCount) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  std::atomic<uint32_t> items{0};
  const auto results = run_nodes(1, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    if (++items == 5) {
      const rlimit tight{2000, before.rlim_max};
      setrlimit(RLIMIT_FSIZE, &tight);
    }
    do_all(node, device, item, reporter);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  EXPECT_EQ(results[0].code, MK_STORAGE);
  EXPECT_NE(results[0].error.find("node-0000.ndjson"), std::string::npos) << results[0].error;
  const size_t kept = read().records.size();
  EXPECT_LT(kept, n_fits_);
  expect_all_done(run_nodes(1, do_all)[0]);
}

TEST_F(RunTest, GarbageFromANodeEndsTheRun) {
  Hub hub(2);
  Result leader;
  std::thread zero([&] { leader = run_rank(hub.table(0), do_all); });
  Transport one(hub.table(1));
  one.send(0, encode(Hello{"0.1.0", "p", {}, {}}));
  one.send(0, "{\"type\":\"DONE\",\"lease\":\"x\"}");
  one.send(0, encode(Bye{}));
  zero.join();
  EXPECT_EQ(leader.code, MK_BAD_DATA);
  EXPECT_NE(leader.error.find("node 1"), std::string::npos) << leader.error;
}

}  // namespace
}  // namespace mokume::cluster
