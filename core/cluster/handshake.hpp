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

// Nodes load data and build kernels between meeting and handshake, so a slow node need not be lost.
struct Patience {
  std::chrono::milliseconds meet = std::chrono::minutes(1);           // for all ranks to be present
  std::chrono::milliseconds open = std::chrono::minutes(30);          // for all ranks to have opened their devices
  std::chrono::milliseconds see_directory = std::chrono::seconds(5);  // for the run directory to become visible
};

// The share of a rank. For rank 0 also its inputs, and notices for the user.
struct Meeting {
  HostShare share;
  std::vector<HostView> ranks;       // rank 0 only
  std::vector<HostShare> shares;     // rank 0 only
  std::vector<std::string> notices;  // rank 0 only
};

// Divides the cores and devices of each host among its ranks (cluster/share.hpp). Called once by every rank, before it
// opens a device or starts a worker thread, and before handshake(). Throws as handshake() does.
Meeting meet(Transport& transport, const HostView& own, const std::string& version, const std::atomic<bool>& stop,
             const Patience& patience = {});

struct Leader {
  std::string run_directory;
  ClassChoices recorded;          // from an earlier start of the run; override everything measured now
  bool shared_directory = false;  // verify that every rank sees run_directory, which must exist
  bool finished = false;          // run_directory holds a finished run of this plan
};

struct Handshake {
  std::string run_directory, plan_hash;
  ClassChoices choices;                         // the union of all nodes' choices; precedence: recorded, rank 0, 1, ...
  std::vector<std::vector<LocalDevice>> nodes;  // rank 0 only: the devices of each rank
  bool finished = false;                        // rank 0 found a finished run; on other ranks nothing else is set
};

// Exchanges HELLO and WELCOME. Called once by every rank before it configures its devices. `leader` is null except on
// rank 0. Throws the same Error on every rank if versions or plans differ, if a rank gave up, if ranks do not see the
// run directory (MK_BAD_DATA, naming them), or if a rank does not respond within `patience`. Throws Error(MK_CANCELLED)
// if `stop` is set.
Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    const Patience& patience = {});

// Asks each rank about a directory. Rank 0 gets the answers, indexed by rank; the others get an empty list. Called
// inside participate(), after meet(). For a rank that cannot write there, sync_s is 0.
std::vector<Seen> look_at(Transport& transport, const std::string& directory, const std::atomic<bool>& stop,
                          const Patience& patience = {});

// Encloses everything a rank does with the others, from handshake to report. Runs `body`. If it throws, the others are
// told why and stop too, and the exception propagates. Ranks other than 0 then sleep until rank 0 has finished as well.
// Call it before the transport is shut down, on the thread that uses the transport.
void participate(Transport& transport, const std::function<void()>& body);

}  // namespace mokume::cluster
