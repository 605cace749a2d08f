#include "peers.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace mokume::mpi {
namespace {

constexpr std::chrono::milliseconds k_between_looks(50);
constexpr std::chrono::milliseconds k_drain(200);  // from the end of a process to its loss

// The words before the process id.
std::string namespace_of(const std::string& whereabouts) { return whereabouts.substr(0, whereabouts.rfind(' ')); }

}  // namespace

std::string whereabouts() {
  char host[256] = {};
  if (gethostname(&host[0], sizeof(host) - 1) != 0) return "";
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat pids {};
  // Where the kernel does not say enough, nobody is to take another host's process for one of its own.
  if (boot.empty() || stat("/proc/self/ns/pid", &pids) != 0) return "";
  return std::string(&host[0]) + ' ' + boot + ' ' + std::to_string(pids.st_ino) + ' ' + std::to_string(getpid());
}

void Peers::introduce(int peer, const std::string& text) {
  const std::string own = whereabouts();
  if (own.empty() || text.empty() || namespace_of(text) != namespace_of(own)) return;
  at(peer).process = static_cast<pid_t>(std::strtol(text.c_str() + text.rfind(' ') + 1, nullptr, 10));
}

void Peers::heard(int peer, Clock::time_point now) {
  at(peer).forgotten = false;
  at(peer).quiet_since = now;
}

void Peers::look(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + k_between_looks;
  for (Peer& peer : peers_) {
    if (peer.process == 0 || peer.parted || peer.failed) continue;
    if (!peer.ended) {
      if (kill(peer.process, 0) == 0 || errno != ESRCH) continue;
      peer.ended = true;
      peer.quiet_since = now;
    }
    if (now - peer.quiet_since >= k_drain) peer.failed = true;
  }
}

bool Peers::any_lost() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.failed || peer.forgotten; });
}

}  // namespace mokume::mpi
