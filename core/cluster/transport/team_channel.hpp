// Sends and receives the messages of the team on this node (core/team). Only the thread of cluster::run() uses the
// transport. Node 0 sends to all nodes; the other nodes send to node 0.
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
  // Sends an encoded message, which may go to several nodes, and wakes the loop, whose next turn passes it on.
  void send(uint32_t to, std::shared_ptr<const std::string> bytes) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      outgoing_.emplace_back(to, std::move(bytes));
      wake = wake_;
    }
    if (wake) wake();
  }

  // ---- functions that the team implements; the loop's thread calls them, so they must return quickly

  // Takes a message of the team. An Error stops the run.
  virtual void received(uint32_t from, TeamMessage message) = 0;
  virtual void lost(uint32_t node) = 0;  // may be called more than once
  virtual bool busy() = 0;               // returns whether this node must not leave yet

  // ---- for the loop

  using Outgoing = std::vector<std::pair<uint32_t, std::shared_ptr<const std::string>>>;
  Outgoing take_outgoing() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outgoing_, {});
  }
  // Takes an empty `wake` once the loop has ended.
  void on_wake(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

 private:
  std::mutex mutex_;
  Outgoing outgoing_;
  std::function<void()> wake_;
};

}  // namespace mokume::cluster
