// Drives a coordinator on a simulated clock, and stores its notifications.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cluster/coordinator/coordinator.hpp"
#include "cluster/fixtures.hpp"

namespace mokume::cluster {

class Harness {
 public:
  using Kind = journal::EventRecord::Kind;

  Harness(PlannedWork work, std::vector<std::vector<LocalDevice>> nodes, TestRules rules = {},
          const Limits& limits = {})
      : rules_(std::move(rules)), coordinator_(std::move(work), std::move(nodes), rules_, {&observer_}, limits) {
    out_ = coordinator_.tick(now_);
  }

  Coordinator& coordinator() { return coordinator_; }
  const std::vector<journal::EventRecord>& events() const { return observer_.events; }
  const std::vector<journal::FitRecord>& given_up() const { return observer_.gave_up; }
  TestObserver& observer() { return observer_; }
  double now() const { return now_; }

  std::vector<Outgoing> say(uint32_t from, const Message& message) {
    out_ = coordinator_.handle(from, message, now_);
    return out_;
  }

  // Returns the answer to a device's request. Asks for up to 10 s, because a device rests after failures.
  std::optional<Grant> ask(uint32_t node, uint32_t device = 0) {
    for (int i = 0; i < 20; ++i) {
      for (const Outgoing& one : say(node, Request{device}))
        if (const Grant* grant = std::get_if<Grant>(&one.message)) return *grant;
      if (coordinator_.over() || coordinator_.stopped()) break;
      pass(0.5);
    }
    return std::nullopt;
  }
  Grant expect_grant(uint32_t node, uint32_t device = 0) {
    const auto grant = ask(node, device);
    EXPECT_TRUE(grant) << "node " << node << " device " << device;
    return grant.value_or(Grant{});
  }

  void finish(uint32_t node, const Grant& grant) {
    Done done{grant.lease, {}};
    for (const uint32_t fit : grant.attempt.fits) done.records.push_back(result_of(fit));
    say(node, done);
    say(node, LeaseEnd{grant.lease, MK_OK, "", 1, {}});
  }
  void fail(uint32_t node, const Grant& grant, int32_t status = MK_DEVICE_ERROR, const std::string& text = "it broke") {
    say(node, LeaseEnd{grant.lease, status, text, 1, {}});
  }

  // Lets time pass. All nodes except the silent ones send heartbeats.
  void pass(double seconds, const std::vector<uint32_t>& silent = {}) {
    for (const double end = now_ + seconds; now_ < end;) {
      now_ += 0.5;
      for (uint32_t node = 0; node < n_nodes_; ++node)
        if (std::find(silent.begin(), silent.end(), node) == silent.end()) coordinator_.handle(node, Heartbeat{}, now_);
      out_ = coordinator_.tick(now_);
    }
  }
  void sleep(double seconds) { now_ += seconds; }  // no node runs, not even the coordinator's process
  void nodes(uint32_t n) { n_nodes_ = n; }

  size_t count(Kind kind) const {
    return static_cast<size_t>(
        std::count_if(events().begin(), events().end(), [&](const auto& one) { return one.kind == kind; }));
  }
  std::vector<uint64_t> cancelled(uint32_t node) {
    for (const Outgoing& one : say(node, Heartbeat{}))
      if (const Ack* ack = std::get_if<Ack>(&one.message)) return ack->cancel;
    return {};
  }
  bool finished() {
    say(0, Heartbeat{});
    return out_.size() == 1 && std::holds_alternative<Finish>(out_[0].message);
  }

 private:
  TestRules rules_;
  TestObserver observer_;
  std::vector<Outgoing> out_;
  uint32_t n_nodes_ = 1;
  double now_ = 1000;
  Coordinator coordinator_;
};

}  // namespace mokume::cluster
