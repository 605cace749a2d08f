// How the team on this node (core/team) sends and gets messages through the transport, whose only user is the thread of
// cluster::run(): node 0 sends to all, the others to node 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cluster/protocol/codec.hpp"

namespace mokume::cluster {

class TeamChannel {
 public:
  virtual ~TeamChannel() = default;

  // ---- for the team, from any thread

  void send(uint32_t to, const Message& message) { send(to, std::make_shared<const std::string>(encode(message))); }
  // An encoded message that goes to several nodes. It leaves at the next turn of the loop, which this brings about.
  void send(uint32_t to, std::shared_ptr<const std::string> bytes) {
    std::function<void()> ring;
    {
      const std::lock_guard lock(mutex_);
      outgoing_.emplace_back(to, std::move(bytes));
      ring = ring_;
    }
    if (ring) ring();
  }

  // ---- what the team does, on the loop's thread; must be quick

  // An Error ends the run.
  virtual void received(uint32_t from, TeamMessage message) = 0;
  virtual void lost(uint32_t node) = 0;  // maybe more than once
  virtual bool busy() = 0;               // this node must not leave yet

  // ---- for the loop

  using Outgoing = std::vector<std::pair<uint32_t, std::shared_ptr<const std::string>>>;
  Outgoing take_outgoing() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outgoing_, {});
  }
  // `ring`: empty once no loop runs any more.
  void on_ring(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
  }

 private:
  std::mutex mutex_;
  Outgoing outgoing_;
  std::function<void()> ring_;
};

}  // namespace mokume::cluster
