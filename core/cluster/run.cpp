#include "cluster/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "cluster/agent/agent.hpp"
#include "cluster/protocol/codec.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

// Wakes the loop when a feeder, the journal or the team has news for it. Callers of wake() may outlive the run.
class Waker {
 public:
  explicit Waker(Transport& transport) : transport_(&transport) {}
  void wake() {
    const std::lock_guard lock(mutex_);
    if (transport_ != nullptr) transport_->wake();
  }
  void detach() {
    const std::lock_guard lock(mutex_);
    transport_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Transport* transport_;
};

// Returns monotonic time in seconds since the epoch.
class Now {
 public:
  explicit Now(const base::Clock& clock) : clock_(clock), wall_s_(clock.wall_s()), steady_s_(clock.steady_s()) {}
  double operator()() const { return wall_s_ + (clock_.steady_s() - steady_s_); }

 private:
  const base::Clock& clock_;
  double wall_s_, steady_s_;
};

class JournalObserver : public Observer {
 public:
  explicit JournalObserver(journal::Journal& journal) : journal_(journal) {}
  void given_up(const journal::FitRecord& record) override { journal_.append(record); }
  void event(const journal::EventRecord& event) override { journal_.append(event); }

 private:
  journal::Journal& journal_;
};

class Loop {
 public:
  Loop(Transport& transport, Agent& agent, Coordinator* coordinator, const LoopOptions& options,
       const std::atomic<bool>& stop)
      : transport_(transport),
        agent_(agent),
        coordinator_(coordinator),
        team_(options.team),
        stop_(stop),
        options_(options),
        clock_(transport.clock()),
        now_(transport.clock()) {}

  void run() {
    if (coordinator_ != nullptr) deliver(coordinator_->tick(now_()));
    double active_s = clock_.steady_s();
    while (!agent_.over() || (coordinator_ != nullptr && !coordinator_->over())) {
      bool active = send_for_team();
      if (!asked_to_stop_ && stop_.load()) {
        asked_to_stop_ = true;
        const std::string cause = options_.stop_cause();
        tell_coordinator(Stop{MK_CANCELLED, cause.empty() ? "stopped on request" : "stopped on request: " + cause});
      }
      for (const Message& message : agent_.collect(now_())) {
        tell_coordinator(message);
        active = true;
      }
      active = receive_all() || active;
      watch_others();
      if (active) {
        active_s = clock_.steady_s();
      } else if (transport_.size() > 1 && clock_.steady_s() - active_s < options_.stay_awake_s) {
        std::this_thread::yield();
      } else {
        transport_.wait(options_.longest_wait);
      }
    }
    send_for_team();  // sends the last messages
  }

 private:
  // Sends the messages of the team. Returns whether there were any.
  bool send_for_team() {
    if (team_ == nullptr) return false;
    const auto messages = team_->take_outgoing();
    for (const auto& [to, bytes] : messages) transport_.send(to, bytes);
    return !messages.empty();
  }

  // Returns whether more may follow at once. A leaving agent stops listening, because participate() waits for the BYE.
  bool receive_all() {
    bool active = false;
    while (coordinator_ != nullptr || !agent_.leaving() || (team_ != nullptr && team_->busy())) {
      const auto received = transport_.poll();
      if (!received) break;
      active = receive(*received) || active;
    }
    return active;
  }

  // Exchanges information about dead nodes with the transport, and lets the coordinator check its timeouts.
  void watch_others() {
    if (coordinator_ == nullptr) {
      if (transport_.lost(0)) agent_.lose_node_0("node 0 died");
      // Otherwise, participate() would wait for the same silence of node 0 again.
      if (agent_.node_0_lost()) transport_.forget(0);
      // After a STOP, the leader still has to send its last messages; after a FINISH, no node has any messages left.
      const bool finished = agent_.leaving() && !agent_.stopped();
      if (team_ != nullptr && (finished || agent_.node_0_lost())) team_->lost(0);
      return;
    }
    std::vector<uint32_t> dead;
    for (uint32_t node = 1; node < transport_.size(); ++node)
      if (transport_.lost(node)) dead.push_back(node);
    deliver(coordinator_->tick(now_(), dead));
    // The coordinator does not call a node lost that took its leave; a team still needs it.
    for (const uint32_t node : dead)
      if (team_ != nullptr) team_->lost(node);
    for (const uint32_t node : coordinator_->lost()) {
      transport_.forget(node);
      if (team_ != nullptr) team_->lost(node);
    }
  }

  // Handles a message. Returns whether more may follow at once, which is true unless the message is a heartbeat.
  bool receive(const Transport::Received& received) {
    try {
      Message message = decode(received.text, received.owner);
      if (auto of_team = team_message(message)) {
        if (team_ == nullptr) throw Error(MK_INTERNAL, "this node has no team");
        team_->received(received.from, std::move(*of_team));
        return true;
      }
      const bool beat = std::holds_alternative<Heartbeat>(message);
      if (coordinator_ != nullptr) {
        deliver(coordinator_->handle(received.from, message, now_()));
      } else if (received.from == 0) {
        agent_.handle(message, now_());
      } else {
        throw Error(MK_INTERNAL, fmt::format("node {} wrote to this node, which is not node 0", received.from));
      }
      return !beat;
    } catch (const Error& error) {
      tell_coordinator(Stop{error.status(), fmt::format("a message of node {}: {}", received.from, error.what())});
      return true;
    }
  }

  void tell_coordinator(const Message& message) {
    if (coordinator_ != nullptr) {
      deliver(coordinator_->handle(0, message, now_()));
    } else {
      transport_.send(0, encode(message));
    }
  }

  void deliver(const std::vector<Outgoing>& messages) {
    for (const Outgoing& one : messages) {
      if (one.to == 0) {
        agent_.handle(one.message, now_());
      } else {
        transport_.send(one.to, encode(one.message));
      }
    }
  }

  Transport& transport_;
  Agent& agent_;
  Coordinator* coordinator_;  // null except on node 0
  TeamChannel* team_;         // may be null
  const std::atomic<bool>& stop_;
  const LoopOptions& options_;
  const base::Clock& clock_;
  Now now_;
  bool asked_to_stop_ = false;
};

}  // namespace

Outcome run(Transport& transport, const Handshake& handshake, Executor& executor, Leading* leading,
            journal::Journal& journal, const std::atomic<bool>& stop, const LoopOptions& options) {
  const bool leads = transport.rank() == 0;
  if (leads != (leading != nullptr)) throw Error(MK_INTERNAL, "node 0 and only node 0 leads");
  if (leads && handshake.nodes.at(0) != executor.devices())
    throw Error(MK_INTERNAL, "the devices of this node differ from those in its HELLO");
  JournalObserver journaled(journal);
  std::optional<Coordinator> coordinator;
  if (leads) {
    leading->observers.insert(leading->observers.begin(), &journaled);
    std::set<uint32_t> absent;
    for (uint32_t node = 0; node < transport.size(); ++node)
      if (transport.absent(node)) absent.insert(node);
    coordinator.emplace(std::move(leading->work), handshake.nodes, leading->rules, leading->observers, options.limits,
                        absent);
  }
  const auto waker = std::make_shared<Waker>(transport);
  const std::shared_ptr<void> until_the_end(nullptr, [waker](void*) { waker->detach(); });
  const auto wake = [waker] { waker->wake(); };
  const auto end = [&executor](Agent* ended) {
    if (ended->abandoned().empty())
      delete ended;
    else
      executor.abandon();  // a feeder still uses the agent
  };
  std::unique_ptr<Agent, decltype(end)> agent(
      new Agent(executor, journal, wake, options.limits, options.bounds, options.team, *options.threads), end);
  if (options.team != nullptr) options.team->on_wake(wake);
  Loop(transport, *agent, coordinator ? &*coordinator : nullptr, options, stop).run();
  const std::optional<Stop> stopped = agent->stopped();
  Outcome outcome;
  outcome.leader_lost = agent->leader_lost() && agent->abandoned().empty();
  outcome.leader_silent = outcome.leader_lost && agent->leader_silent();
  agent.reset();
  if (stopped && stopped->code != MK_CANCELLED) throw Error(static_cast<mk_status>(stopped->code), stopped->reason);
  if (leads) journal.flush();  // saves the fits that were given up
  outcome.finished = !stopped;
  if (stopped) outcome.reason = stopped->reason;
  if (coordinator) {
    outcome.records = coordinator->records();
    outcome.lost = coordinator->lost();
  }
  return outcome;
}

namespace {

// Runs work on its own thread. The destructor waits for the work.
class BackgroundWork {
 public:
  BackgroundWork(const base::Threads& threads, const std::function<void()>& work)
      : clock_(threads.clock()), monitor_(threads.monitor()), thread_(threads.start([this, &work] { run(work); })) {}
  ~BackgroundWork() { thread_->join(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  bool wait(double seconds) {
    const std::lock_guard lock(*monitor_);
    return monitor_->wait_until(clock_.steady_s() + seconds, [this] { return done_; });
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(const std::function<void()>& work) {
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(*monitor_);
    failure_ = failure;
    done_ = true;
    monitor_->change();
  }

  const base::Clock& clock_;
  const std::unique_ptr<base::Monitor> monitor_;
  bool done_ = false;
  std::exception_ptr failure_;
  const std::unique_ptr<base::Thread> thread_;  // declared last, because it uses the other members
};

}  // namespace

void attend(Transport& transport, const std::function<void()>& work, const base::Threads& threads) {
  const double nap = transport.size() == 1 ? 1 : 0.005;
  BackgroundWork background(threads, work);
  while (!background.wait(nap)) {
    while (const auto received = transport.poll())
      if (std::holds_alternative<Heartbeat>(decode(received->text, received->owner)))
        transport.send(received->from, encode(Finish{}));
  }
  background.rethrow();
}

}  // namespace mokume::cluster
