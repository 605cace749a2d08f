// Runs the fits of a plan over all devices of all nodes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cluster/handshake.hpp"
#include "cluster/protocol/types.hpp"
#include "cluster/transport/transport.hpp"
#include "journal/journal.hpp"

namespace mokume::cluster {

struct Outcome {
  bool finished = false;  // every fit is done; otherwise the run was asked to stop, or node 0 or too much else was lost
  std::string reason;     // why it stopped
  std::vector<journal::FitRecord> records;  // rank 0: all that is done, sorted by fit; other ranks: none
  std::vector<uint32_t> lost;               // rank 0: nodes that were not heard of at the end
};

// Called by every rank, inside participate() and after handshake(), on the thread that uses the transport; it pumps
// messages there while feeders work. agent.devices are those of the rank's own HELLO. `coordinator`: on rank 0 only,
// else null. A set `stop` (from a signal handler, say, on any rank) cancels what runs, everywhere. On return every
// finished fit of this node is on disk, and on rank 0 no node that lives works any more. If a journal or the protocol
// fails anywhere, or no device is left, every rank throws the same Error.
Outcome run(Transport& transport, const Handshake& handshake, const AgentSetup& agent,
            const CoordinatorSetup* coordinator, journal::Journal& journal, const std::atomic<bool>& stop);

// Rank 0, after run(): does `work` on a thread of its own and meanwhile answers the other nodes, which wait for the
// end, so that they know it lives. On the thread that uses the transport. Throws what `work` throws.
void attend(Transport& transport, const std::function<void()>& work);

}  // namespace mokume::cluster
