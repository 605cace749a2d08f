// Connects a rank to rank 0, or to the rank that becomes rank 0.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>

#include "rendezvous.hpp"

namespace mokume::mpi {

using Clock = std::chrono::steady_clock;

// Runs handlers until done() is true or the deadline has passed. Returns whether done() is true.
template <class Done>
bool run_until(asio::io_context& io, Clock::time_point deadline, Done&& done) {
  while (!done()) {
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    io.run_one_for(left);
  }
  return true;
}

// Connects to rank 0 as `rank`, and returns the connection once rank 0 has proven that it knows the key. Tries the
// local socket and then every address, repeatedly. Throws Error(MK_CANCELLED) if no attempt succeeds by the deadline,
// or if all addresses refuse for some seconds, which means that rank 0 is gone.
Stream::socket connect_to_rank_0(asio::io_context& io, const Rendezvous& rendezvous, uint32_t rank,
                                 Clock::time_point deadline);

}  // namespace mokume::mpi
