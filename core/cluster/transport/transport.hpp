// Wraps a transport for C++, and provides the transport for a run on a single node.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/transport.h"
#include "base/clock.hpp"

namespace mokume::cluster {

// Returns whether an MPI launcher started this process, which then needs a transport. A bare SLURM_* in the environment
// indicates a batch script, not a launcher.
bool mpi_launched();

// Returns the transport of a single node, which carries no messages. The object is static.
const mk_transport* self_transport();

// Only one thread may use it, except for wake(), has_fabric(), give() and take(). Functions throw Error if the
// transport fails.
class Transport {
 public:
  // `clock` is the clock that the waits of the transport follow.
  explicit Transport(const mk_transport* table, const base::Clock& clock = base::system_clock())
      : table_(table), clock_(clock) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  uint32_t rank() const { return table_->rank(table_->self); }
  uint32_t size() const { return table_->size(table_->self); }
  const base::Clock& clock() const { return clock_; }

  void send(uint32_t to, const std::string& message);  // sends a copy
  void send(uint32_t to, std::shared_ptr<const std::string> message);

  // Returns whether give() and take() move floats between any two nodes (abi/transport.h). Any thread may call these
  // three. `done` runs on the thread that calls wait(), with the number of floats that were sent.
  bool has_fabric() const { return !regrouped() && table_->give != nullptr && table_->take != nullptr; }
  void give(uint32_t to, uint32_t tag, std::span<const float> floats, std::function<void(uint64_t)> done);
  void take(uint32_t from, uint32_t tag, std::span<float> floats, std::function<void(uint64_t)> done);

  struct Received {
    uint32_t from = 0;
    std::string_view text;
    std::shared_ptr<char> owner;  // owns the text, which is writable
  };
  std::optional<Received> poll();

  // Waits until a message may have arrived or a peer may be lost since the last poll() that found nothing, until wake()
  // is called (or was called since the last wait), or until the time is over. May return earlier.
  void wait(std::chrono::microseconds at_most);
  void wake();  // may be called from any thread

  void flush(uint32_t timeout_ms);

  // Gives a node up. The transport drops messages to the node until a message from it arrives.
  void forget(uint32_t peer);
  // Returns whether the peer was given up or is known to be gone. Only silence reveals a host that loses power or
  // network.
  bool lost(uint32_t peer) const;

  // Groups the remaining nodes anew after node 0 is lost (abi/transport.h): the first of them becomes node 0. Returns
  // false if the transport cannot do this.
  bool regroup(uint32_t timeout_ms);
  bool regrouped() const { return !absent_.empty(); }
  // Returns the rank at the start of the job, which differs from rank() on a node that has become node 0.
  uint32_t number() const { return regrouped() ? number_ : rank(); }
  // Returns, on node 0, whether this number has had no node since regroup().
  bool absent(uint32_t node) const { return node < absent_.size() && absent_[node]; }

  // Leaves the run. Must be called once, after everything is written. Returns false if a node was lost: the process
  // must then exit with _exit(), because any other exit may wait forever.
  bool leave(uint32_t timeout_ms);

 private:
  const mk_transport* table_;
  const base::Clock& clock_;
  std::vector<bool> absent_;  // by node; empty before regroup()
  uint32_t number_ = 0;       // set by regroup()

  // wait() and wake() use these members if the table lacks the functions.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace mokume::cluster
