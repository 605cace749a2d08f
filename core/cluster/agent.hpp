// A node's side of a run: keeps its devices busy with what rank 0 grants, and puts every finished fit into the journal
// before rank 0 hears of it. Every rank has one, rank 0 too.
//
// The pump's thread calls handle() and collect(); work runs on the feeders; what feeders and journal have to say goes
// through an inbox that collect() empties.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/messages.hpp"
#include "journal/journal.hpp"
#include "scheduler/feeders.hpp"

namespace mokume::cluster {

class Agent {
 public:
  using Clock = std::chrono::steady_clock;

  // `ring` is called from any thread when collect() has something new. All arguments outlive the agent.
  Agent(const AgentSetup& setup, journal::Journal& journal, std::function<void()> ring);
  ~Agent();  // cancels and waits for the devices, and for the journal to be done with this agent
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void handle(const Message& message);                  // from rank 0; Error(MK_INTERNAL) if it breaks the rules
  std::vector<Message> collect(Clock::time_point now);  // for rank 0, in this order

  bool leaving() const { return leaving_; }  // rank 0 said STOP or FINISH: nothing more to listen to
  bool over() const { return said_bye_; }
  const std::optional<Stop>& stopped() const { return stopped_; }

 private:
  class LeaseReporter;
  friend class LeaseReporter;

  enum class Lane { idle, asked, busy };
  struct Device {
    Lane lane = Lane::idle;
    Clock::time_point ask_at{};
  };
  struct Lease {
    uint32_t device = 0;
    uint64_t durable = 0;             // its records that are on disk
    std::optional<uint64_t> to_come;  // once the work has returned: how many it reported
    bool complete = true;             // the work returned without an error
  };
  struct Ended {
    uint64_t lease = 0;
    uint64_t reported = 0;
    std::optional<Stop> error;
  };
  struct State {
    std::string what;
    double share = 0;
    bool fresh = false;
  };
  struct Inbox {
    std::vector<std::pair<uint64_t, journal::FitRecord>> durable;
    std::vector<Ended> ended;
    std::optional<Stop> journal_failure;
    std::vector<State> states;  // by device
  };

  void grant(const Grant& grant);
  void run_item(const Grant& grant);
  void take_durable(std::vector<std::pair<uint64_t, journal::FitRecord>> durable, std::vector<Message>& out);
  void take_ended(const std::vector<Ended>& ended, std::vector<Message>& out);
  void close_leases(std::vector<Message>& out);
  void fail(const Stop& why, std::vector<Message>& out);
  void ask(Clock::time_point now, std::vector<Message>& out);
  void beat(Clock::time_point now, std::vector<Message>& out);
  bool quiet() const;

  const AgentSetup& setup_;
  journal::Journal& journal_;
  std::function<void()> ring_;

  std::vector<Device> devices_;
  std::map<uint64_t, Lease> leases_;
  Clock::time_point next_beat_{};
  bool failed_ = false;          // this node's own work failed: rank 0 has been told
  bool journal_failed_ = false;  // what is not durable yet never will be
  bool leaving_ = false;
  bool said_bye_ = false;
  std::optional<Stop> stopped_;
  std::atomic<bool> cancelled_{false};

  std::mutex inbox_mutex_;
  Inbox inbox_;
  scheduler::Feeders feeders_;  // last: its threads use all of the above
};

}  // namespace mokume::cluster
