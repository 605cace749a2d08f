// Provides a fixture for whole runs over nodes that are threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "cluster/fixtures.hpp"
#include "cluster/run.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"

namespace mokume::cluster {

inline void do_all(uint32_t, uint32_t, const Attempt& attempt, Reporter& reporter) {
  for (const uint32_t fit : attempt.fits) reporter.report(result_of(fit));
}

// Holds back the first item of every device until all devices have one, so that a node that starts late still takes
// part.
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

  // Returns the work that the journals leave, as node 0 of a resumed run does.
  PlannedWork make_work() const {
    PlannedWork work = cluster::make_work(n_fits_, bundle_size_);
    work.done = read().records;
    return work;
  }

  Result run_rank(const mk_transport* table, const Work& work) {
    Transport transport(table);
    const uint32_t rank = transport.rank();
    TestExecutor executor(rank, devices_, work);
    executor.on_abandoned = on_abandoned_;
    if (on_durable_) executor.on_saved = [&](uint32_t fit) { on_durable_(rank, fit); };
    LoopOptions options;
    if (lease_s_ > 0) options.limits.lease_s = lease_s_;
    if (hang_s_ > 0) options.limits.hang_s = hang_s_;
    options.bounds = bounds_;
    TestRules rules;
    TestObserver observer;
    observer.on_record = on_record_;
    observer.on_device_state = on_device_state_;
    observer.on_event = on_event_;
    Result result;
    try {
      participate(transport, [&] {
        const Leader leader{scratch_.path(), {}};
        const Handshake shaken =
            handshake(transport, {"0.1.0", "p", executor.devices(), {}}, rank == 0 ? &leader : nullptr, stop_);
        std::optional<Leading> leading;
        if (rank == 0) leading.emplace(Leading{make_work(), rules, {&observer}});
        journal::Journal journal(shaken.run_directory + "/journal", rank, make_plan(n_fits_));
        result.outcome = run(transport, shaken, executor, leading ? &*leading : nullptr, journal, stop_, options);
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
      if (here.attempt != there.attempt) continue;  // journals may hold both a straggler and its copy
      EXPECT_EQ(here.node, there.node);
      EXPECT_EQ(here.device, there.device);
      EXPECT_EQ(here.bundle, there.bundle);
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
  double lease_s_ = 0, hang_s_ = 0;  // 0 stands for the default
  journal::Bounds bounds_ = {};
};

}  // namespace mokume::cluster
