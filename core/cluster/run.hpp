// Runs the fits of a plan over all devices of all nodes.
//
// In this folder: how the nodes of a run come together, share the work and part. protocol/ says what they say to each
// other, coordinator/ which node gets which lease, agent/ how a node works its leases off, transport/ how messages
// travel. What a fit is and how a device computes it is not here (core/node), and neither is the run directory
// (core/run).
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "cluster/agent/executor.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "cluster/handshake.hpp"
#include "cluster/transport/team_channel.hpp"
#include "cluster/transport/transport.hpp"
#include "journal/journal.hpp"

namespace mokume::cluster {

struct Outcome {
  bool finished = false;  // every fit is done; otherwise the run was asked to stop, or node 0 or too much else was lost
  std::string reason;     // why it stopped
  std::vector<journal::FitRecord> records;  // node 0: all that is done, sorted by fit; other nodes: none
  std::vector<uint32_t> lost;               // node 0: nodes that were not heard of at the end
};

// The contribution of node 0.
struct Leading {
  Workload work;
  RefitRules& rules;
  Observer& observer;  // events and fits that were given up are in the journal when it hears of them
};

struct RunOptions {
  Limits limits = {};
  TeamChannel* team = nullptr;  // outlives the run; null: no team works
  const base::Clock& clock = base::system_clock();
};

// Called by every node, inside participate() and after handshake(), on the thread that uses the transport; it carries
// messages there while devices work. `leading`: on node 0 only, else null. A set `stop` (from a signal handler, say, on
// any node) cancels what runs, everywhere. On return every finished fit of this node is on disk, and on node 0 no node
// that lives works any more. If a journal or the protocol fails anywhere, or no device is left, every node throws the
// same Error.
Outcome run(Transport& transport, const Handshake& handshake, Executor& executor, Leading* leading,
            journal::Journal& journal, const std::atomic<bool>& stop, const RunOptions& options = {});

// Node 0, after run(): does `work` on a thread of its own and meanwhile answers the other nodes, which wait for the
// end, so that they know it lives. On the thread that uses the transport. Throws what `work` throws.
void attend(Transport& transport, const std::function<void()>& work);

}  // namespace mokume::cluster
