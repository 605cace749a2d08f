// A C++ wrapper of a transport, and the transport for a run on a single node.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "abi/transport.h"
#include "base/clock.hpp"

namespace mokume::cluster {

// Returns whether an MPI launcher started this process, which then needs the transport "mpi". A bare SLURM_* in the
// environment indicates a batch script, not a launcher.
bool mpi_launched();

// A transport for one node, without messages. Static storage.
const mk_transport* self_transport();

// Used by one thread, except wake(). Every function throws the transport's Error.
class Transport {
 public:
  // The waits of the transport follow `clock`.
  explicit Transport(const mk_transport* table, const base::Clock& clock = base::system_clock())
      : table_(table), clock_(clock) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  uint32_t rank() const { return table_->rank(table_->self); }
  uint32_t size() const { return table_->size(table_->self); }
  const base::Clock& clock() const { return clock_; }

  void send(uint32_t to, const std::string& message);  // sends a copy
  void send(uint32_t to, std::shared_ptr<const std::string> message);

  struct Received {
    uint32_t from = 0;
    std::string_view text;
    std::shared_ptr<char> owner;  // owns the text, which is writable
  };
  std::optional<Received> poll();

  // Waits until a message may have arrived or a peer may be lost since the last poll() that found nothing, wake() was
  // called since the last wait, or the time is over. May return earlier.
  void wait(std::chrono::microseconds at_most);
  void wake();  // may be called from any thread

  void flush(uint32_t timeout_ms);

  // Gives a node up: messages to it are dropped until it is heard from again.
  void forget(uint32_t peer);
  // Returns whether the peer was given up or is known to be gone. A host that loses power or network is detected only
  // by its silence.
  bool lost(uint32_t peer) const;

  // Leaves the run, once, after everything is written. Returns false if a node was lost: the process must then exit
  // with _exit(), since any other exit may wait forever.
  bool leave(uint32_t timeout_ms);

 private:
  const mk_transport* table_;
  const base::Clock& clock_;

  // Used if the table has no wait().
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace mokume::cluster
