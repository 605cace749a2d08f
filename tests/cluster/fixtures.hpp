// Imitates nodes without a network: a transport in memory for threads, and a run with simulated results.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "abi/plugin.h"
#include "abi/transport.h"
#include "cluster/agent/executor.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "sdk/error.hpp"
#include "search/plan.hpp"
#include "support/scratch.hpp"

namespace mokume::cluster {

// Holds the mailboxes of n nodes, and a transport table for each node.
class Hub {
 public:
  explicit Hub(uint32_t n) : nodes_(n) {
    for (uint32_t i = 0; i < n; ++i) {
      nodes_[i].hub = this;
      nodes_[i].rank = i;
      nodes_[i].table = table_of(&nodes_[i]);
    }
  }
  const mk_transport* table(uint32_t rank) const { return &nodes_[rank].table; }

 private:
  struct Node {
    Hub* hub = nullptr;
    uint32_t rank = 0;
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;  // set by wake() and by every message
    std::deque<std::pair<uint32_t, std::string>> inbox;
    mk_transport table{};
  };

  static mk_transport table_of(Node* node) {
    mk_transport table{};
    table.struct_size = sizeof(mk_transport);
    table.abi_major = MK_ABI_MAJOR;
    table.abi_minor = MK_ABI_MINOR;
    table.self = node;
    table.rank = [](void* self) { return static_cast<Node*>(self)->rank; };
    table.size = [](void* self) { return static_cast<uint32_t>(static_cast<Node*>(self)->hub->nodes_.size()); };
    table.send = [](void* self, uint32_t to, const void* message, uint64_t bytes, void (*release)(void*), void* context,
                    mk_error* error) {
      return sdk::guard(error, [&] {
        const std::shared_ptr<void> owner(context, [=](void* kept) {
          if (release != nullptr) release(kept);
        });
        Node& from = *static_cast<Node*>(self);
        Node& target = from.hub->nodes_.at(to);
        const std::lock_guard lock(target.mutex);
        target.inbox.emplace_back(from.rank, std::string(static_cast<const char*>(message), bytes));
        target.woken = true;
        target.changed.notify_one();
      });
    };
    table.poll = [](void* self, uint32_t* from, void** message, uint64_t* bytes, mk_error*) -> int32_t {
      Node& own = *static_cast<Node*>(self);
      const std::lock_guard lock(own.mutex);
      *bytes = 0;
      if (own.inbox.empty()) return MK_OK;
      *from = own.inbox.front().first;
      const std::string& text = own.inbox.front().second;
      *bytes = text.size();
      *message = std::copy(text.begin(), text.end(), new char[text.size()]) - text.size();
      own.inbox.pop_front();
      return MK_OK;
    };
    table.release = [](void* message) { delete[] static_cast<char*>(message); };
    table.wait = [](void* self, uint32_t timeout_us, mk_error*) -> int32_t {
      Node& own = *static_cast<Node*>(self);
      std::unique_lock lock(own.mutex);
      own.changed.wait_for(lock, std::chrono::microseconds(timeout_us), [&] { return own.woken; });
      own.woken = false;
      return MK_OK;
    };
    table.wake = [](void* self) {
      Node& own = *static_cast<Node*>(self);
      const std::lock_guard lock(own.mutex);
      own.woken = true;
      own.changed.notify_one();
    };
    table.flush = [](void*, uint32_t, mk_error*) -> int32_t { return MK_OK; };
    table.shutdown = [](void*) {};
    return table;
  }

  std::deque<Node> nodes_;
};

using test::Scratch;

inline search::Plan make_plan(uint32_t n_fits) {
  search::Plan plan;
  plan.candidates.resize(n_fits);
  plan.folds = 1;
  plan.hash = "0123456789abcdef";
  return plan;
}

// Returns fits 0 to n_fits - 1 in bundles of `size`. Later bundles cost more.
inline scheduler::Workload make_bundles(uint32_t n_fits, uint32_t size) {
  scheduler::Workload workload;
  for (uint32_t fit = 0; fit < n_fits; fit += size) {
    scheduler::Bundle bundle{{}, 1.0 + fit, 100, fit / size};
    for (uint32_t i = fit; i < std::min(n_fits, fit + size); ++i) bundle.fits.push_back(i);
    workload.bundles.push_back(std::move(bundle));
  }
  return workload;
}

inline PlannedWork make_work(uint32_t n_fits, uint32_t size = 1) {
  PlannedWork work;
  work.n_fits = n_fits;
  work.bundles = make_bundles(n_fits, size);
  return work;
}

// Refits the candidate of the last fit in the list, unless a test chooses another.
class TestRules : public SearchRules {
 public:
  Refit choose(uint32_t refit, const std::vector<journal::FitRecord>& fits) override { return chosen(refit, fits); }
  Decision decide(const std::vector<std::optional<journal::FitRecord>>& done) override {
    return decides ? decides(done) : Decision();
  }
  std::optional<double> loss(const journal::FitRecord& fit) const override {
    return scored ? std::optional(scored(fit)) : std::nullopt;
  }

  std::function<Refit(uint32_t, const std::vector<journal::FitRecord>&)> chosen =
      [](uint32_t, const std::vector<journal::FitRecord>& fits) {
        Refit refit;
        refit.candidate = refit.like = fits.back().fit;
        refit.cost = 1;
        refit.bytes = 100;
        return refit;
      };
  std::function<Decision(const std::vector<std::optional<journal::FitRecord>>&)> decides;
  std::function<double(const journal::FitRecord&)> scored;
};

// Stores its notifications, and passes them on to the functions that a test sets.
class TestObserver : public Observer {
 public:
  void fit_done(const journal::FitRecord& record) override {
    if (on_record) on_record(record);
  }
  void given_up(const journal::FitRecord& record) override { gave_up.push_back(record); }
  void event(const journal::EventRecord& event) override {
    events.push_back(event);
    if (on_event) on_event(event);
  }
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override {
    if (on_device_state) on_device_state(node, device, what, share);
  }

  std::vector<journal::FitRecord> gave_up;
  std::vector<journal::EventRecord> events;
  std::function<void(const journal::FitRecord&)> on_record;
  std::function<void(const journal::EventRecord&)> on_event;
  std::function<void(uint32_t, uint32_t, const std::string&, double)> on_device_state;
};

struct TestHooks {
  TestRules rules;
  TestObserver observer;
};

class TestCoordinator : public TestHooks, public Coordinator {
 public:
  TestCoordinator(PlannedWork work, std::vector<std::vector<LocalDevice>> nodes, const Limits& limits = {})
      : Coordinator(std::move(work), std::move(nodes), rules, {&observer}, limits) {}
};

inline LocalDevice make_device(const std::string& id, uint64_t budget = 1000) {
  return {id, id.substr(0, id.find(':')), "Device " + id, "Vendor", "class of " + id, budget};
}

inline journal::FitRecord result_of(uint32_t fit) {
  journal::FitRecord record;
  record.fit = fit;
  record.n = 100;
  record.values = {static_cast<double>(fit % 17), (fit % 17) / 100.0};
  record.note = "n" + std::to_string(fit);
  if (fit % 3 == 1) record.curves = {{"train_loss", {1.0 / fit, std::numeric_limits<double>::infinity(), -0.0}}};
  return record;
}

using Work = std::function<void(uint32_t node, uint32_t device, const Attempt& attempt, Reporter& reporter)>;

// Runs `work` on the devices "host:0", "host:1", ... of a node.
class TestExecutor : public Executor {
 public:
  TestExecutor(uint32_t node, uint32_t devices, Work work) : node_(node), work_(std::move(work)) {
    for (uint32_t i = 0; i < devices; ++i) devices_.push_back(make_device("host:" + std::to_string(i)));
  }
  std::vector<LocalDevice> devices() const override { return devices_; }
  void run(uint32_t device, const Attempt& attempt, Reporter& reporter, const mk_team*) override {
    work_(node_, device, attempt, reporter);
  }
  std::optional<double> energy_j(uint32_t device) override { return on_energy ? on_energy(device) : std::nullopt; }
  bool kill(uint32_t device) noexcept override { return on_kill && on_kill(device); }
  void saved(uint32_t fit) noexcept override {
    if (on_saved) on_saved(fit);
  }
  void abandon() noexcept override {
    if (on_abandoned) on_abandoned();
  }

  std::function<void(uint32_t)> on_saved;
  std::function<bool(uint32_t)> on_kill;
  std::function<std::optional<double>(uint32_t)> on_energy;
  std::function<void()> on_abandoned;

 private:
  uint32_t node_;
  Work work_;
  std::vector<LocalDevice> devices_;
};

}  // namespace mokume::cluster
