// How nodes come together and part.
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

// How long one waits for the others. Data are loaded and kernels built between meeting and handshake: slow, not lost.
struct Patience {
  std::chrono::milliseconds meet = std::chrono::minutes(1);           // for all ranks to be present
  std::chrono::milliseconds open = std::chrono::minutes(30);          // for all ranks to have opened their devices
  std::chrono::milliseconds see_directory = std::chrono::seconds(5);  // for the run directory to come into sight
};

// The share of a rank, and what rank 0 should tell the user about it.
struct Meeting {
  HostShare share;
  std::vector<HostView> ranks;       // rank 0 only
  std::vector<HostShare> shares;     // rank 0 only
  std::vector<std::string> notices;  // rank 0 only
};

// The ranks of one host share its cores and devices (cluster/share.hpp). Called once by every rank, before it opens a
// device or starts a worker thread, and before handshake(). A rank alone keeps what it has. Throws as handshake() does.
Meeting meet(Transport& transport, const HostView& own, const std::string& version, const std::atomic<bool>& stop,
             const Patience& patience = {});

// The contribution of rank 0.
struct Leader {
  std::string run_directory;
  ClassChoices recorded;          // from an earlier start of the run: they win over all that was measured now
  bool shared_directory = false;  // see to it that every rank sees run_directory, which exists then
};

struct Handshake {
  std::string run_directory, plan_hash;
  ClassChoices choices;                         // of all nodes, key by key: recorded, then rank 0's, 1's, ...
  std::vector<std::vector<LocalDevice>> nodes;  // rank 0 only: the devices of each rank
};

// Everybody says who they are, rank 0 answers. Called once by every rank before devices are opened for good. `leader`:
// on rank 0 only, else null. Throws the same Error on every rank if versions or plans differ, a rank gave up, or
// (MK_BAD_DATA, naming them) ranks do not see the run directory; if a rank is not heard of within `patience`;
// Error(MK_CANCELLED) if `stop` is set.
Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    const Patience& patience = {});

// Asks how each rank sees a directory. Rank 0 gets the answers by rank; the others answer and get an empty list. Inside
// participate(), after meet(). A rank that cannot write there has sync_s 0.
std::vector<Seen> look_at(Transport& transport, const std::string& directory, const std::atomic<bool>& stop,
                          const Patience& patience = {});

// The frame around everything a rank does with the others, handshake to report: runs `body`, and however it ends, all
// ranks part in an orderly way. If it throws, the others are told why and stop too; the exception goes on. Ranks other
// than 0 then wait, asleep, until rank 0 has finished as well. Call it before the transport is shut down, on the thread
// that uses it.
void participate(Transport& transport, const std::function<void()>& body);

}  // namespace mokume::cluster
