// Whole runs: agents, coordinator, journals and feeders together, over nodes that are threads of this process.
#include "cluster/run.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "cluster/fixtures.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"

namespace mokume::cluster {
namespace {

using Work = std::function<void(uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter)>;

// Reports every fit of the item.
void do_all(uint32_t, uint32_t, const WorkItem& item, Reporter& reporter) {
  for (const uint32_t fit : item.fits) reporter.report(result_of(fit));
}

// Holds back the first item of every device until all have one: a node that starts late still takes part.
class AllStarted {
 public:
  explicit AllStarted(size_t n) : n_(n) {}
  void operator()(uint32_t node, uint32_t device) {
    std::unique_lock lock(mutex_);
    started_.emplace(node, device);
    wake_.notify_all();
    wake_.wait_for(lock, std::chrono::seconds(60), [&] { return started_.size() == n_; });
  }
  size_t size() const { return started_.size(); }

 private:
  size_t n_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::pair<uint32_t, uint32_t>> started_;
};

struct Result {
  Outcome outcome;
  std::string error;
  int32_t code = 0;
};

class RunTest : public testing::Test {
 protected:
  std::string journals() const { return scratch_.path() + "/journal"; }
  journal::Contents read() const { return journal::read_all(journals(), make_plan(n_fits_)); }

  // Rank 0 takes what the journals hold already, as a resumed run does.
  CoordinatorSetup coordinator_setup() {
    CoordinatorSetup setup;
    setup.n_fits = n_fits_;
    setup.workload = make_workload(n_fits_, bundle_size_);
    setup.done = read().records;
    setup.on_record = on_record_;
    setup.on_device_state = on_device_state_;
    setup.on_event = on_event_;
    if (lease_s_ > 0) setup.lease_s = lease_s_;
    if (hang_s_ > 0) setup.hang_s = hang_s_;
    return setup;
  }

  Result run_rank(const mk_transport* table, const Work& work) {
    Transport transport(table);
    const uint32_t rank = transport.rank();
    AgentSetup agent;
    for (uint32_t i = 0; i < devices_; ++i) agent.devices.push_back(make_device("host:" + std::to_string(i)));
    agent.work = [&](uint32_t device, const WorkItem& item, Reporter& reporter) { work(rank, device, item, reporter); };
    agent.on_abandoned = on_abandoned_;
    if (lease_s_ > 0) agent.lease_s = lease_s_;
    if (hang_s_ > 0) agent.hang_s = hang_s_;
    if (on_durable_) agent.on_durable = [&](uint32_t fit) { on_durable_(rank, fit); };
    Result result;
    try {
      participate(transport, [&] {
        const Leader leader{scratch_.path(), {}};
        const Handshake shaken =
            handshake(transport, {"0.1.0", "p", agent.devices, {}}, rank == 0 ? &leader : nullptr, stop_);
        std::optional<CoordinatorSetup> setup;
        if (rank == 0) setup = coordinator_setup();
        journal::Journal journal(shaken.run_directory + "/journal", rank, make_plan(n_fits_));
        result.outcome = run(transport, shaken, agent, setup ? &*setup : nullptr, journal, stop_);
        journal.close(result.outcome.finished ? "done" : result.outcome.reason);
      });
    } catch (const Error& error) {
      result.error = error.what();
      result.code = error.status();
    }
    return result;
  }

  std::vector<Result> run_nodes(uint32_t n, const Work& work) {
    if (n == 1) return {run_rank(self_transport(), work)};
    Hub hub(n);
    std::vector<Result> results(n);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < n; ++rank) {
      threads.emplace_back([&, rank] { results[rank] = run_rank(hub.table(rank), work); });
    }
    for (std::thread& one : threads) one.join();
    return results;
  }

  void expect_all_done(const Result& leader) {
    EXPECT_EQ(leader.error, "");
    EXPECT_TRUE(leader.outcome.finished);
    const journal::Contents contents = read();
    ASSERT_EQ(leader.outcome.records.size(), n_fits_);
    ASSERT_EQ(contents.records.size(), n_fits_);
    for (uint32_t fit = 0; fit < n_fits_; ++fit) {
      const journal::FitRecord& here = leader.outcome.records[fit];
      const journal::FitRecord& there = contents.records[fit];
      EXPECT_TRUE(journal::same_result(here, result_of(fit)));
      EXPECT_TRUE(journal::same_result(there, result_of(fit)));
      EXPECT_EQ(here.node, there.node);
      EXPECT_EQ(here.device, there.device);
      EXPECT_EQ(here.bundle, there.bundle);
      EXPECT_EQ(here.attempt, there.attempt);
      EXPECT_EQ(here.start_s, there.start_s);
      EXPECT_EQ(here.end_s, there.end_s);
    }
  }

  Scratch scratch_;
  uint32_t n_fits_ = 60;
  uint32_t bundle_size_ = 3;
  uint32_t devices_ = 2;
  std::atomic<bool> stop_{false};
  std::function<void(const journal::FitRecord&)> on_record_;
  std::function<void(uint32_t node, uint32_t fit)> on_durable_;
  std::function<void(uint32_t, uint32_t, const std::string&, double)> on_device_state_;
  std::function<void(const journal::EventRecord&)> on_event_;
  std::function<void()> on_abandoned_;
  double lease_s_ = 0, hang_s_ = 0;  // 0: as it is usual
};

TEST_F(RunTest, OneNodeDoesEveryFit) { expect_all_done(run_nodes(1, do_all)[0]); }

TEST_F(RunTest, ThreeNodesDoEveryFitOnceAndAllTakePart) {
  std::mutex mutex;
  std::map<uint32_t, uint32_t> times;
  AllStarted all_started(6);
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
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
  for (const auto& [fit, count] : times) EXPECT_EQ(count, 1u) << fit;
  EXPECT_EQ(all_started.size(), 6u);
  for (const journal::Session& one : read().sessions) EXPECT_TRUE(one.closed);
}

TEST_F(RunTest, AFitIsInItsNodesJournalBeforeRankZeroHearsOfIt) {
  uint32_t heard = 0, missing = 0;
  on_record_ = [&](const journal::FitRecord& record) {
    std::ifstream in(journals() + "/" + journal::file_name(record.node));
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
    std::ifstream in(journals() + "/" + journal::file_name(node));
    std::ostringstream text;
    text << in.rdbuf();
    const std::lock_guard lock(mutex);
    told.insert(fit);
    ++calls;
    if (text.str().find("{\"fit\":" + std::to_string(fit) + ",") == std::string::npos) ++missing;
  };
  expect_all_done(run_nodes(2, do_all)[0]);
  EXPECT_EQ(told.size(), n_fits_);
  EXPECT_EQ(calls, n_fits_);
  EXPECT_EQ(missing, 0u);
}

TEST_F(RunTest, FillsInWhereAndWhen) {
  n_fits_ = bundle_size_ = 2;
  devices_ = 1;
  const auto results = run_nodes(1, [](uint32_t, uint32_t, const WorkItem& item, Reporter& reporter) {
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
  run_nodes(2, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
    all_started(node, device);
    const bool slow = node == 1 && device == 1;
    if (slow) ++by_slow;
    std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 300 : 5));
    do_all(node, device, item, reporter);
  });
  EXPECT_GE(by_slow, 1u);
  EXPECT_LE(by_slow, 5u);  // an even split would give it 10
}

TEST_F(RunTest, WorkThatThrowsIsDoneElsewhere) {
  std::map<journal::EventRecord::Kind, uint32_t> events;
  on_event_ = [&](const journal::EventRecord& event) {
    ++events[event.kind];
    if (event.kind == journal::EventRecord::Kind::failed) {
      EXPECT_EQ(event.node, 2u);
      EXPECT_EQ(event.text, "host:0: the driver fell over");
    }
  };
  AllStarted all_started(6);
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
    all_started(node, device);
    if (node == 2 && device == 0) throw Error(MK_DEVICE_ERROR, "the driver fell over");
    do_all(node, device, item, reporter);
  });
  for (const Result& one : results) EXPECT_EQ(one.error, "");
  expect_all_done(results[0]);
  EXPECT_GE(events[journal::EventRecord::Kind::failed], bundle_size_);
}

TEST_F(RunTest, WorkThatThrowsEverywhereEndsTheRunOnEveryRank) {
  const auto results = run_nodes(3, [&](uint32_t, uint32_t, const WorkItem& item, Reporter& reporter) {
    if (item.fits.front() % 2 == 0) reporter.report(result_of(item.fits.front()));
    throw Error(MK_DEVICE_ERROR, "the driver fell over");
  });
  for (const Result& one : results) {
    EXPECT_EQ(one.code, MK_DEVICE_ERROR);
    EXPECT_NE(one.error.find("the driver fell over"), std::string::npos) << one.error;
  }
  for (const journal::FitRecord& one : read().records) EXPECT_EQ(one.status, journal::FitStatus::ok);
  expect_all_done(run_nodes(2, do_all)[0]);  // and the next run goes on from there
}

TEST_F(RunTest, AFitThatFailsThreeTimesIsInTheJournalAndTheRestIsDone) {
  devices_ = 1;
  bundle_size_ = 1;
  n_fits_ = 6;
  const auto results = run_nodes(2, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
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
  const auto results = run_nodes(1, [](uint32_t, uint32_t, const WorkItem&, Reporter&) { throw 42; });
  EXPECT_EQ(results[0].code, MK_INTERNAL);
  EXPECT_NE(results[0].error.find("unknown type"), std::string::npos);
}

TEST_F(RunTest, WorkThatGivesUpUnaskedIsAnError) {
  const auto results = run_nodes(
      2, [](uint32_t, uint32_t, const WorkItem&, Reporter&) { throw Error(MK_CANCELLED, "no wish to go on"); });
  EXPECT_EQ(results[0].code, MK_INTERNAL);
  EXPECT_EQ(results[1].code, MK_INTERNAL);
}

TEST_F(RunTest, ABadDataSetEndsTheRunAtOnce) {
  std::atomic<uint32_t> items{0};
  const auto results = run_nodes(2, [&](uint32_t, uint32_t, const WorkItem&, Reporter&) {
    ++items;
    throw Error(MK_BAD_DATA, "a file has changed");
  });
  for (const Result& one : results) {
    EXPECT_EQ(one.code, MK_BAD_DATA);
    EXPECT_NE(one.error.find("a file has changed"), std::string::npos) << one.error;
  }
  EXPECT_LE(items, 4u);
}

TEST_F(RunTest, AModelThatReportsWronglyIsAnError) {
  const std::vector<std::pair<Work, std::string>> cases = {
      {[](uint32_t, uint32_t, const WorkItem&, Reporter&) {}, "without a result for fit"},
      {[](uint32_t, uint32_t, const WorkItem& item, Reporter& r) { r.report(result_of(item.fits[0] + 30)); },
       "reported"},
      {[](uint32_t, uint32_t, const WorkItem&, Reporter& r) { r.report(result_of(4000)); }, "fit 4000 was reported"},
      {[](uint32_t, uint32_t, const WorkItem& item, Reporter& r) {
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

TEST_F(RunTest, AStopOnRequestCancelsEverywhereAndTheNextRunGoesOn) {
  std::atomic<uint32_t> done{0};
  AllStarted all_started(6);  // a node that is stopped before its first fit says so by an error
  const auto results = run_nodes(3, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
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
  EXPECT_EQ(kept, 7u * bundle_size_);
  EXPECT_EQ(results[0].outcome.records.size(), kept);
  stop_ = false;
  std::atomic<uint32_t> again{0};
  const auto resumed = run_nodes(2, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
    again += static_cast<uint32_t>(item.fits.size());
    do_all(node, device, item, reporter);
  });
  expect_all_done(resumed[0]);
  EXPECT_EQ(again, n_fits_ - kept);
}

// On one node the pump sleeps until something happens: a flag set from outside must still be seen.
TEST_F(RunTest, AStopWakesASleepingNode) {
  std::atomic<bool> working{false};
  std::thread outside([&] {
    while (!working) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop_ = true;
  });
  const auto results = run_nodes(1, [&](uint32_t, uint32_t, const WorkItem&, Reporter& reporter) {
    working = true;
    for (int i = 0; i < 3000 && !reporter.cancelled(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  outside.join();
  EXPECT_FALSE(results[0].outcome.finished);
  EXPECT_EQ(results[0].error, "");
}

TEST_F(RunTest, HandsBackTheNotesOfFitsThatAreDone) {
  {
    journal::Journal journal(journals(), 0, make_plan(n_fits_));
    for (const uint32_t fit : {3u, 5u, 20u}) journal.append(result_of(fit), {});
    journal.close("killed, say");
  }
  std::mutex mutex;
  std::map<uint32_t, std::string> notes;
  const auto results = run_nodes(2, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
    {
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < item.done_fits.size(); ++i) notes[item.done_fits[i]] = item.done_notes[i];
    }
    do_all(node, device, item, reporter);
  });
  expect_all_done(results[0]);
  EXPECT_EQ(notes, (std::map<uint32_t, std::string>{{3, "n3"}, {5, "n5"}, {20, "n20"}}));
}

TEST_F(RunTest, TellsRankZeroWhatDevicesDo) {
  n_fits_ = bundle_size_ * 4;
  std::atomic<uint32_t> nodes{0};  // a bit for each
  std::string what;
  double share = 0;
  on_device_state_ = [&](uint32_t node, uint32_t, const std::string& text, double part) {
    what = text;
    share = part;
    nodes |= 1u << node;
  };
  AllStarted all_started(4);
  run_nodes(2, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
    reporter.progress("gamma 0.1", 7.5);  // more than all is all
    all_started(node, device);
    for (int i = 0; i < 6000 && nodes != 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    do_all(node, device, item, reporter);
  });
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(what, "gamma 0.1");
  EXPECT_EQ(share, 1.0);
}

TEST_F(RunTest, AFullDiskEndsTheRunWithNothingCountedThatIsNotWritten) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  std::atomic<uint32_t> items{0};
  const auto results = run_nodes(1, [&](uint32_t node, uint32_t device, const WorkItem& item, Reporter& reporter) {
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

// A rank that says HELLO and is never heard of again.
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
  one.send(0, encode(Request{0}));  // takes a lease with it
  zero.join();
  expect_all_done(leader);
  EXPECT_EQ(leader.outcome.lost, std::vector<uint32_t>{1});
  EXPECT_EQ(lost, 1u);
}

TEST_F(RunTest, WithoutNodeZeroANodeKeepsWhatItHasAndStops) {
  Hub hub(2);
  Transport zero(hub.table(0));
  std::thread dead([&] { only_hello(zero, scratch_.path(), {make_device("host:0")}); });
  Transport transport(hub.table(1));
  AgentSetup agent;
  agent.devices = {make_device("host:0")};
  agent.lease_s = 0.2;
  std::atomic<bool> cancelled{false};
  agent.work = [&](uint32_t, const WorkItem& item, Reporter& reporter) {
    reporter.report(result_of(item.fits.front()));
    while (!reporter.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cancelled = true;
    throw Error(MK_CANCELLED, "cancelled");
  };
  const Handshake shaken = only_hello(transport, "", agent.devices);
  dead.join();
  WorkItem item;
  item.fits = {4, 5};
  zero.send(1, encode(Grant{1, 0, item}));
  journal::Journal journal(shaken.run_directory + "/journal", 1, make_plan(n_fits_));
  const Outcome outcome = run(transport, shaken, agent, nullptr, journal, stop_);
  EXPECT_FALSE(outcome.finished);
  EXPECT_NE(outcome.reason.find("node 0 was not heard of"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(cancelled);
  ASSERT_EQ(read().records.size(), 1u);
  EXPECT_EQ(read().records[0].fit, 4u);
}

// In a process of its own, which ends as such a run has to.
TEST_F(RunTest, WorkThatHangsIsLeftBehind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [&] {
    hang_s_ = 0.3;
    bool abandoned = false;
    on_abandoned_ = [&] { abandoned = true; };
    n_fits_ = 4;
    bundle_size_ = 1;
    std::atomic<bool> hanging{false};
    // Everything that hanging work uses is left on this stack until the process ends.
    AgentSetup agent;
    agent.devices = {make_device("host:0"), make_device("host:1")};
    agent.hang_s = hang_s_;
    agent.on_abandoned = on_abandoned_;
    agent.work = [&](uint32_t device, const WorkItem& item, Reporter& reporter) {
      if (device == 1) {
        hanging = true;
        while (true) pause();
      }
      while (!hanging) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      do_all(0, device, item, reporter);
    };
    const CoordinatorSetup setup = coordinator_setup();
    journal::Journal journal(journals(), 0, make_plan(n_fits_));
    Transport transport(self_transport());
    const Outcome outcome = run(transport, {scratch_.path(), "p", {}, {agent.devices}}, agent, &setup, journal, stop_);
    journal.close("done");
    _exit(outcome.finished && abandoned && read().records.size() == 4 ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST(Attend, AnswersTheOthersWhileItWorks) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  std::atomic<bool> heard{false};
  std::thread other([&] {
    one.send(0, encode(Done{}));  // nobody wants it any more
    for (int i = 0; i < 3; ++i) {
      one.send(0, encode(Beat{}));
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

TEST(Participate, ANodeBeatsWhileItWaitsForTheEnd) {
  Hub hub(2);
  Transport zero(hub.table(0)), one(hub.table(1));
  std::thread other([&] { participate(one, [] {}); });
  for (int beats = 0; beats < 2;) {
    const auto received = zero.poll();
    if (!received) std::this_thread::yield();
    if (received && std::holds_alternative<Beat>(decode(received->text))) ++beats;
  }
  zero.send(1, encode(Bye{}));
  other.join();
}

}  // namespace
}  // namespace mokume::cluster
