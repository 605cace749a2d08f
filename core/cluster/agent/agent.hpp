// Runs a node's side of a run. An agent keeps the node's devices busy with the leases that node 0 grants, and writes
// every finished fit to the journal before it reports the fit to node 0. Every node has an agent, including node 0.
//
// The loop of cluster::run() calls handle() and collect() on its thread. Work runs on the feeders, which communicate
// through an inbox that collect() empties. The agent holds a record back until its line is on disk. Times are
// monotonic, in seconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "cluster/agent/executor.hpp"
#include "cluster/protocol/messages.hpp"
#include "cluster/protocol/silence.hpp"
#include "cluster/transport/team_channel.hpp"
#include "journal/bounds.hpp"
#include "journal/journal.hpp"
#include "scheduler/feeders.hpp"

namespace mokume::cluster {

class Agent {
 public:
  // Calls `wake`, on any thread, when collect() has something new. Reports outside `bounds` fail their lease and stop
  // the run. `team` is null if there is no team; otherwise, this node does not end before the team is idle. All
  // referenced objects must outlive the agent.
  Agent(Executor& executor, journal::Journal& journal, std::function<void()> wake, const Limits& limits = {},
        journal::Bounds bounds = {}, TeamChannel* team = nullptr,
        const base::Threads& threads = base::system_threads());
  ~Agent();  // cancels and waits for the devices
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void handle(const Message& message, double now);  // takes a message of node 0; Error(MK_INTERNAL) if it is invalid
  void lose_node_0(const std::string& why);         // ends this node's part, because node 0 is gone
  std::vector<Message> collect(double now);         // returns messages for node 0, in sending order

  bool leaving() const { return leaving_; }  // returns whether node 0 has ended the run or is gone
  bool over() const { return over_; }
  bool node_0_lost() const { return node_0_lost_; }
  bool leader_lost() const { return leader_lost_; }      // node 0 died or fell silent; false if it ended the run
  bool leader_silent() const { return leader_silent_; }  // in addition, it may still be alive
  // Returns the devices whose work hangs although this node is done. If there are any, this agent and everything that
  // the work uses must live until the process exits.
  const std::vector<uint32_t>& abandoned() const { return abandoned_; }
  const std::optional<Stop>& stopped() const { return stopped_; }

 private:
  class LeaseReporter;
  friend class LeaseReporter;

  enum class Lane { idle, asked, busy };
  struct Device {
    Lane lane = Lane::idle;
    uint64_t lease = 0;  // set while the device is busy
    double ask_at = 0;
    double pause_s = 0;     // pause before its next request
    double sign_at = 0;     // time of the work's last sign of life, on the clock of listening_
    bool given_up = false;  // the work hangs
    bool killed = false;    // the work was killed, so it will end
  };
  struct Lease {
    uint32_t device = 0;
    bool ended = false;  // the work has ended, but some of its records are not on disk yet
    std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  };
  struct Reported {
    uint64_t line = 0;  // line number in the journal
    uint64_t lease = 0;
    journal::FitRecord record;
  };
  struct Ended {
    LeaseEnd message;
    std::optional<Stop> fatal;  // set by a failure that would recur on every device
  };
  struct Activity {
    std::string what;
    double share = 0;
    bool alive = false;  // true if the work gave a sign of life since the last collect()
  };
  struct Inbox {
    std::vector<Reported> reported;
    std::vector<Ended> ended;
    std::vector<Activity> states;  // indexed by device
  };

  void grant(const Grant& grant);
  void run_attempt(const Grant& grant, const std::shared_ptr<std::atomic<bool>>& cancelled);
  void take_durable(std::vector<Message>& out);
  void take_ended(std::vector<Ended> ended, std::vector<Message>& out);
  void fail(const Stop& why, std::vector<Message>& out);
  void leave(std::optional<Stop> why);
  void cancel(uint64_t lease);
  void beat(double now, std::vector<Message>& out);
  void watch_node_0();
  void watch_devices();
  void try_to_end(std::vector<Message>& out);
  double quiet(const Device& device) const { return listening_.seconds() - device.sign_at; }
  bool hangs(const Device& device, double patience_s = 0) const;

  Executor& executor_;
  const std::vector<LocalDevice> local_;
  journal::Journal& journal_;
  std::function<void()> wake_;
  const Limits limits_;
  const journal::Bounds bounds_;
  TeamChannel* team_;
  const base::Clock& clock_;

  std::vector<Device> devices_;
  std::map<uint64_t, Lease> leases_;
  std::vector<Reported> reported_;  // records that are not on disk yet
  double next_beat_ = 0;
  Listening listening_;
  double heard_ = 0;             // time of node 0's last message, on the clock of listening_
  bool failed_ = false;          // this node cannot continue and has told rank 0
  bool journal_failed_ = false;  // records that are not on disk yet are lost
  bool leaving_ = false;
  bool node_0_lost_ = false, leader_lost_ = false, leader_silent_ = false;
  bool over_ = false;
  std::vector<uint32_t> abandoned_;
  std::optional<Stop> stopped_;

  std::mutex inbox_mutex_;
  Inbox inbox_;
  scheduler::Feeders feeders_;  // declared last, because its threads use all other members
};

}  // namespace mokume::cluster
