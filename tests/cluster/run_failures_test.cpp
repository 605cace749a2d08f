// Tests whole runs in which work fails or hangs, and nodes die.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "cluster/run_fixture.hpp"

namespace mokume::cluster {
namespace {

TEST_F(RunTest, WorkThatThrowsIsDoneElsewhere) {
  std::map<journal::EventRecord::Kind, uint32_t> events;
  std::atomic<bool> failure_known{false};
  on_event_ = [&](const journal::EventRecord& event) {
    ++events[event.kind];
    failure_known = true;
    if (event.kind == journal::EventRecord::Kind::failed) {
      EXPECT_EQ(event.node, 2u);
      EXPECT_EQ(event.text, "host:0: the driver fell over");
    }
  };
  AllStarted all_started(6);
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    all_started(node, device);
    if (node == 2 && device == 0) throw Error(MK_DEVICE_ERROR, "the driver fell over");
    while (!failure_known) std::this_thread::yield();  // the other devices wait for the failure
    do_all(node, device, item, reporter);
  });
  for (const Result& one : results) EXPECT_EQ(one.error, "");
  expect_all_done(results[0]);
  EXPECT_GE(events[journal::EventRecord::Kind::failed], bundle_size_);
}

TEST_F(RunTest, WorkThatThrowsEverywhereEndsTheRunOnEveryRank) {
  const auto results = run_nodes(3, [&](uint32_t, uint32_t, const Attempt& item, Reporter& reporter) {
    if (item.fits.front() == n_fits_ - bundle_size_ && item.number == 1)
      reporter.report(result_of(n_fits_ - bundle_size_));
    throw Error(MK_DEVICE_ERROR, "the driver fell over");
  });
  for (const Result& one : results) {
    EXPECT_EQ(one.code, MK_DEVICE_ERROR);
    EXPECT_NE(one.error.find("the driver fell over"), std::string::npos) << one.error;
  }
  for (const journal::FitRecord& one : read().records) EXPECT_EQ(one.status, journal::FitStatus::ok);
  expect_all_done(run_nodes(2, do_all)[0]);  // the next run resumes the work
}

TEST_F(RunTest, AFitThatFailsThreeTimesIsInTheJournalAndTheRestIsDone) {
  devices_ = 1;
  bundle_size_ = 1;
  n_fits_ = 6;
  const auto results = run_nodes(2, [&](uint32_t node, uint32_t device, const Attempt& item, Reporter& reporter) {
    if (item.fits.front() == 5) throw Error(MK_DEVICE_ERROR, "stray byte \xff");
    do_all(node, device, item, reporter);
  });
  EXPECT_TRUE(results[0].outcome.finished) << results[0].error;
  const journal::Contents contents = read();
  ASSERT_EQ(contents.records.size(), 6u);
  EXPECT_EQ(contents.records[5].status, journal::FitStatus::failed);
  EXPECT_EQ(contents.records[5].node, 0u);
  EXPECT_NE(contents.records[5].note.find("failed 3 times"), std::string::npos) << contents.records[5].note;
}

TEST_F(RunTest, AnExceptionOfAnyTypeIsAnError) {
  const auto results = run_nodes(1, [](uint32_t, uint32_t, const Attempt&, Reporter&) { throw 42; });
  EXPECT_EQ(results[0].code, MK_INTERNAL);
  EXPECT_NE(results[0].error.find("unknown type"), std::string::npos);
}

TEST_F(RunTest, CancellingWithoutARequestIsAnError) {
  const auto results = run_nodes(
      2, [](uint32_t, uint32_t, const Attempt&, Reporter&) { throw Error(MK_CANCELLED, "no wish to go on"); });
  EXPECT_EQ(results[0].code, MK_INTERNAL);
  EXPECT_EQ(results[1].code, MK_INTERNAL);
}

TEST_F(RunTest, ABadDataSetEndsTheRunAtOnce) {
  std::atomic<uint32_t> items{0};
  const auto results = run_nodes(2, [&](uint32_t, uint32_t, const Attempt&, Reporter&) {
    ++items;
    throw Error(MK_BAD_DATA, "a file has changed");
  });
  for (const Result& one : results) {
    EXPECT_EQ(one.code, MK_BAD_DATA);
    EXPECT_NE(one.error.find("a file has changed"), std::string::npos) << one.error;
  }
  EXPECT_LE(items, 4u);
}

TEST_F(RunTest, AWrongReportOfAModelIsAnError) {
  const std::vector<std::pair<Work, std::string>> cases = {
      {[](uint32_t, uint32_t, const Attempt&, Reporter&) {}, "without a result for fit"},
      {[](uint32_t, uint32_t, const Attempt& item, Reporter& r) { r.report(result_of(item.fits[0] + 30)); },
       "reported"},
      {[](uint32_t, uint32_t, const Attempt&, Reporter& r) { r.report(result_of(4000)); }, "fit 4000 was reported"},
      {[](uint32_t, uint32_t, const Attempt& item, Reporter& r) {
         r.report(result_of(item.fits[0]));
         r.report(result_of(item.fits[0]));
       },
       "reported before"}};
  n_fits_ = 30;
  for (const auto& [work, word] : cases) {
    const auto results = run_nodes(1, work);
    EXPECT_EQ(results[0].code, MK_DEVICE_ERROR);
    EXPECT_NE(results[0].error.find(word), std::string::npos) << results[0].error;
  }
}

// The run stops at the device that reports the record, and no journal contains it.
TEST_F(RunTest, ARecordOutOfRangeReachesNoJournal) {
  bounds_.rows = 99;
  const auto results = run_nodes(2, do_all);
  for (const Result& one : results) EXPECT_EQ(one.code, MK_DEVICE_ERROR) << one.error;
  EXPECT_NE(results[0].error.find("values out of range ('n' is 100"), std::string::npos) << results[0].error;
  EXPECT_TRUE(read().records.empty());
}

Handshake only_hello(Transport& transport, const std::string& directory, const std::vector<LocalDevice>& devices) {
  const Leader leader{directory, {}};
  const std::atomic<bool> stop{false};
  return handshake(transport, {"0.1.0", "p", devices, {}}, transport.rank() == 0 ? &leader : nullptr, stop);
}

TEST_F(RunTest, ANodeThatDiesIsLostAndTheOthersFinish) {
  lease_s_ = 1;
  uint32_t lost = 0;
  on_event_ = [&](const journal::EventRecord& event) {
    if (event.kind == journal::EventRecord::Kind::lost && event.node == 1) ++lost;
  };
  Hub hub(2);
  Result leader;
  std::thread zero([&] { leader = run_rank(hub.table(0), do_all); });
  Transport one(hub.table(1));
  only_hello(one, "", {make_device("host:0"), make_device("host:1")});
  one.send(0, encode(Request{0}));  // takes a lease before it falls silent
  zero.join();
  expect_all_done(leader);
  EXPECT_EQ(leader.outcome.lost, std::vector<uint32_t>{1});
  EXPECT_EQ(lost, 1u);
}

TEST_F(RunTest, WithoutNodeZeroANodeKeepsItsResultsAndStops) {
  Hub hub(2);
  Transport zero(hub.table(0));
  std::thread dead([&] { only_hello(zero, scratch_.path(), {make_device("host:0")}); });
  Transport transport(hub.table(1));
  std::atomic<bool> cancelled{false};
  TestExecutor executor(1, 1, [&](uint32_t, uint32_t, const Attempt& attempt, Reporter& reporter) {
    reporter.report(result_of(attempt.fits.front()));
    while (!reporter.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cancelled = true;
    throw Error(MK_CANCELLED, "cancelled");
  });
  const Handshake shaken = only_hello(transport, "", executor.devices());
  dead.join();
  Attempt attempt;
  attempt.fits = {4, 5};
  zero.send(1, encode(Grant{1, 0, attempt}));
  journal::Journal journal(shaken.run_directory + "/journal", 1, make_plan(n_fits_));
  const Outcome outcome = run(transport, shaken, executor, nullptr, journal, stop_, {Limits{0.2}});
  EXPECT_FALSE(outcome.finished);
  EXPECT_NE(outcome.reason.find("node 0 did not respond"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(cancelled);
  ASSERT_EQ(read().records.size(), 1u);
  EXPECT_EQ(read().records[0].fit, 4u);
}

// This test runs in its own process, which exits like a run with hanging work.
TEST_F(RunTest, WorkThatHangsIsAbandoned) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [&] {
    bool abandoned = false;
    on_abandoned_ = [&] { abandoned = true; };
    n_fits_ = 4;
    bundle_size_ = 1;
    std::atomic<bool> hanging{false};
    // The hanging work uses this stack until the process exits.
    TestExecutor executor(0, 2, [&](uint32_t, uint32_t device, const Attempt& attempt, Reporter& reporter) {
      if (device == 1) {
        hanging = true;
        while (true) pause();
      }
      while (!hanging) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      do_all(0, device, attempt, reporter);
    });
    executor.on_abandoned = on_abandoned_;
    TestRules rules;
    TestObserver observer;
    Leading leading{make_work(), rules, {&observer}};
    LoopOptions options;
    options.limits.hang_s = 0.3;
    journal::Journal journal(journals(), 0, make_plan(n_fits_));
    Transport transport(self_transport());
    const Outcome outcome =
        run(transport, {scratch_.path(), "p", {}, {executor.devices()}}, executor, &leading, journal, stop_, options);
    journal.close("done");
    _exit(outcome.finished && abandoned && read().records.size() == 4 ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST(Attend, AnswersOtherNodesWhileItWorks) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  std::atomic<bool> heard{false};
  std::thread other([&] {
    one.send(0, encode(Done{}));  // node 0 no longer needs this
    for (int i = 0; i < 3; ++i) {
      one.send(0, encode(Heartbeat{}));
      std::optional<Transport::Received> answer;
      while (!(answer = one.poll())) std::this_thread::yield();
      EXPECT_TRUE(std::holds_alternative<Finish>(decode(answer->text)));
    }
    heard = true;
  });
  const auto work = [&] {
    while (!heard) std::this_thread::yield();
  };
  attend(zero, work);
  other.join();
  EXPECT_THROW(attend(zero, [] { throw Error(MK_BAD_DATA, "no"); }), Error);
}

TEST(Participate, ANodeSendsHeartbeatsWhileItWaitsForTheEnd) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  std::thread other([&] { participate(one, [] {}); });
  for (int beats = 0; beats < 2;) {
    const auto received = zero.poll();
    if (!received) std::this_thread::yield();
    if (received && std::holds_alternative<Heartbeat>(decode(received->text))) ++beats;
  }
  zero.send(1, encode(Bye{}));
  other.join();
}

}  // namespace
}  // namespace mokume::cluster
