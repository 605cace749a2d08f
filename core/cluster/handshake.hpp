// Lets the nodes of a run join and leave it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "cluster/transport/transport.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {

// Limits waits for other nodes, which load data and build kernels between meeting and handshake, and may be slow.
struct Patience {
  std::chrono::milliseconds meet = std::chrono::minutes(1);           // time until all ranks are present
  std::chrono::milliseconds open = std::chrono::minutes(30);          // time until all ranks have opened their devices
  std::chrono::milliseconds see_directory = std::chrono::seconds(5);  // time until the run directory is visible
};

// Holds the share of a rank. On rank 0, it also holds the views and shares of all ranks, and notices for the user.
struct Meeting {
  HostShare share;
  std::vector<HostView> ranks;       // only on rank 0
  std::vector<HostShare> shares;     // only on rank 0
  std::vector<std::string> notices;  // only on rank 0
};

// Divides the cores and devices of each host among its ranks (cluster/share.hpp). Every rank must call it once, before
// it opens a device or starts a worker thread, and before handshake(). Throws like handshake(). Absent ranks
// (Transport::absent) get nothing.
Meeting meet(Transport& transport, const HostView& own, const std::string& version, const std::atomic<bool>& stop,
             const Patience& patience = {});

struct Leader {
  std::string run_directory;
  ClassChoices recorded;          // choices of an earlier start of the run, which override all others
  bool shared_directory = false;  // every rank must see run_directory, which exists
  bool finished = false;          // run_directory holds a finished run of this plan
};

struct Handshake {
  std::string run_directory, plan_hash;
  ClassChoices choices;                         // union of all choices; precedence: recorded, rank 0, rank 1, ...
  std::vector<std::vector<LocalDevice>> nodes;  // devices of each rank, on rank 0 only
  bool finished = false;                        // rank 0 found a finished run; other ranks set no other member
};

// Exchanges HELLO and WELCOME. Every rank must call it once, before it configures its devices. `leader` is null except
// on rank 0. Throws the same Error on every rank if versions or plans differ, if a rank gave up, if ranks do not see
// the run directory (MK_BAD_DATA, naming them), or if a rank does not respond within `patience`. Throws
// Error(MK_CANCELLED) if `stop` is set, and LeaderLost on other ranks if rank 0 is lost.
Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    const Patience& patience = {});

// Asks each rank about a directory. Returns the answers, indexed by rank, on rank 0, and an empty list on other ranks.
// Must be called inside participate(), after meet(). A rank that cannot write to the directory reports a sync_s of 0.
std::vector<Seen> look_at(Transport& transport, const std::string& directory, const std::atomic<bool>& stop,
                          const Patience& patience = {});

// Reports that node 0 died or fell silent before it ended the run. Transport::regroup() may replace it.
class LeaderLost : public Error {
 public:
  enum class How { died, silent };  // a silent node may still be alive
  LeaderLost(How how, const std::string& text) : Error(MK_CANCELLED, text), silent_(how == How::silent) {}
  bool silent() const { return silent_; }

 private:
  bool silent_;
};

// Runs `body`, which contains everything that a rank does with the others, from handshake to report. If `body` throws,
// tells the others why, so that they stop too, and rethrows. In the end, other ranks wait until rank 0 has finished,
// and throw LeaderLost if it never does. Must be called before the transport is shut down, on the thread that uses the
// transport.
void participate(Transport& transport, const std::function<void()>& body);

}  // namespace mokume::cluster
