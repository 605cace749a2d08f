// A transport with C++ manners, and the one for a run on a single node.
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

namespace mokume::cluster {

// Whether an MPI launcher started this process: the transport "mpi" is to be loaded then. A bare SLURM_* in the
// environment is a batch script, not a launcher.
bool mpi_launched();

// One node, no messages. Static storage.
const mk_transport* self_transport();

// Used by one thread, wake() apart. Every function throws the transport's Error.
class Transport {
 public:
  explicit Transport(const mk_transport* table) : table_(table) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  uint32_t rank() const { return table_->rank(table_->self); }
  uint32_t size() const { return table_->size(table_->self); }

  void send(uint32_t to, const std::string& message);  // a copy
  void send(uint32_t to, std::shared_ptr<const std::string> message);

  struct Received {
    uint32_t from = 0;
    std::string_view text;
    std::shared_ptr<char> owner;  // of the text, which may be written to
  };
  std::optional<Received> poll();

  // Until, since poll() last found nothing, a message may have come, a peer may be lost, somebody has called wake()
  // since the last wait, or the time is over; maybe less.
  void wait(std::chrono::microseconds at_most);
  void wake();  // from any thread

  void flush(uint32_t timeout_ms);

  // Gives a node up: what goes to it is dropped until it is heard of again.
  void forget(uint32_t peer);
  // Given up, or known to be gone. Of a host that loses its power or its network only its silence tells.
  bool lost(uint32_t peer) const;

  // Parts from the others, once, after everything is written. False: a node was lost, so that the process must end by
  // _exit(); anything else may wait for ever.
  bool leave(uint32_t timeout_ms);

 private:
  const mk_transport* table_;

  // Where the table has no wait().
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace mokume::cluster
