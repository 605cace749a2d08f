// Which of the other ranks are still there. MPI tells little: a rank that was killed is not heard of any more, that is
// all over shared memory. Of a rank on the same host the kernel knows whether its process exists.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace mokume::mpi {

using Clock = std::chrono::steady_clock;

// Where this process runs: "HOST BOOT PID_NAMESPACE PID". Process ids mean the same to processes whose first three
// words agree.
std::string whereabouts();

// Used by one thread.
class Peers {
 public:
  explicit Peers(int size) : peers_(static_cast<size_t>(size)) {}

  // `text`: the peer's whereabouts(). Its process is watched from now on if it runs beside this one.
  void introduce(int peer, const std::string& text);

  void heard(int peer, Clock::time_point now);  // a message came from it
  void forget(int peer) { at(peer).forgotten = true; }
  void fail(int peer) { at(peer).failed = true; }  // for good
  void part(int peer) { at(peer).parted = true; }  // it said farewell: that its process ends is no loss

  // Looks for processes that have ended. A peer fails a while later, so that what it sent arrives first.
  void look(Clock::time_point now);

  bool lost(int peer) const { return at(peer).failed || at(peer).forgotten; }
  bool parted(int peer) const { return at(peer).parted; }
  bool any_lost() const;

 private:
  struct Peer {
    bool failed = false, forgotten = false, parted = false;
    pid_t process = 0;  // 0: not known here
    bool ended = false;
    Clock::time_point quiet_since{};  // once ended: of the last thing heard, or of the end
  };

  Peer& at(int peer) { return peers_[static_cast<size_t>(peer)]; }
  const Peer& at(int peer) const { return peers_[static_cast<size_t>(peer)]; }

  std::vector<Peer> peers_;
  Clock::time_point next_look_{};
};

}  // namespace mokume::mpi
