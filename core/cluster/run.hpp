// Runs the fits of a plan over all devices of all nodes.
//
// In this folder, the nodes of a run join, share the work and leave. The folder contains the messages between them
// (protocol/), the choice of a node for each lease (coordinator/), the execution of leases on a node (agent/), and the
// transport of messages (transport/). Fits and their computation belong to core/node, and the run directory belongs to
// core/run.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "cluster/agent/executor.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "cluster/handshake.hpp"
#include "cluster/transport/team_channel.hpp"
#include "cluster/transport/transport.hpp"
#include "journal/journal.hpp"

namespace mokume::cluster {

struct Outcome {
  bool finished = false;       // every fit is done; otherwise a stop was requested, or node 0 or too much else was lost
  std::string reason;          // reason for a stop
  bool leader_lost = false;    // node 0 died or fell silent, and Transport::regroup() may replace it
  bool leader_silent = false;  // in addition to leader_lost: it may still be alive
  std::vector<journal::FitRecord> records;  // on node 0, all finished fits, sorted by fit; empty on other nodes
  std::vector<uint32_t> lost;               // on node 0, nodes that were not responding at the end
};

struct Leading {
  PlannedWork work;
  SearchRules& rules;
  Observers observers;  // notified after the journal
};

struct LoopOptions {
  Limits limits = {};
  journal::Bounds bounds = {};                             // bounds for reports of this node's devices
  TeamChannel* team = nullptr;                             // must outlive the run; null without a team
  const base::Threads* threads = &base::system_threads();  // threads that run this node's devices
  // Bounds the delay of events that do not wake the loop: a stop request, and the coordinator's timeouts.
  std::chrono::milliseconds longest_wait{20};
  // The next message often arrives at once, as in a team's sums, and a sleeping core takes longer than this to wake.
  double stay_awake_s = 0.001;
  std::function<std::string()> stop_cause = [] { return std::string(); };  // returns why this node stops, or ""
};

// Runs this node's part of a run. Every node must call it, inside participate() and after handshake(), on the thread
// that uses the transport, which carries messages while devices work. `leading` is null except on node 0. Setting
// `stop` on any node, for example in a signal handler, cancels running work everywhere. On return, every finished fit
// of this node is on disk; on node 0, no live node is still working. If a journal or the protocol fails anywhere, or no
// device is left, every node throws the same Error.
Outcome run(Transport& transport, const Handshake& handshake, Executor& executor, Leading* leading,
            journal::Journal& journal, const std::atomic<bool>& stop, const LoopOptions& options = {});

// Node 0 calls it after run(). Does `work` on another thread, while the calling thread, which uses the transport,
// answers the other nodes: they wait for the end of the run and expect signs of life. Rethrows errors of `work`.
void attend(Transport& transport, const std::function<void()>& work,
            const base::Threads& threads = base::system_threads());

}  // namespace mokume::cluster
