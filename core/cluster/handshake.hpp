// How nodes come together and part.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cluster/messages.hpp"
#include "cluster/transport.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {

// What only rank 0 brings.
struct Leader {
  std::string run_directory;
  ClassChoices recorded;  // from an earlier start of the run: they win over all that was measured now
};

struct Handshake {
  std::string run_directory, plan_hash;
  ClassChoices choices;                         // of all nodes, key by key: recorded, then rank 0's, 1's, ...
  std::vector<std::vector<LocalDevice>> nodes;  // rank 0 only: the devices of each rank
};

// Everybody says who they are, rank 0 answers. Called once by every rank before devices are opened for good. `leader`:
// on rank 0 only, else null. Throws the same Error on every rank if versions or plans differ or a rank gave up; rank 0
// throws if a rank has not said HELLO within `timeout`; Error(MK_CANCELLED) if `stop` is set.
Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    std::chrono::seconds timeout = std::chrono::seconds(60));

// The frame around everything a rank does with the others, handshake to report: runs `body`, and however it ends, all
// ranks part in an orderly way. If it throws, the others are told why and stop too; the exception goes on. Ranks other
// than 0 then wait, asleep, until rank 0 has finished as well (it may refit for hours). Call it before the transport is
// shut down, on the thread that uses it.
void participate(Transport& transport, const std::function<void()>& body);

}  // namespace mokume::cluster
