#include "cluster/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cluster/agent/agent.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

using Clock = std::chrono::steady_clock;

// For what nobody announces: a request to stop, and what the coordinator does by the clock.
constexpr std::chrono::milliseconds k_longest_wait(20);
// What comes next often comes at once, as in a team's sums, and a sleeping core takes longer to wake up than that.
constexpr std::chrono::milliseconds k_stay_awake(1);

// Wakes the pump when a feeder, the journal or the side channel has something for it. Who rings may outlive the run.
class Doorbell {
 public:
  explicit Doorbell(Transport& transport) : transport_(&transport) {}
  void ring() {
    const std::lock_guard lock(mutex_);
    if (transport_ != nullptr) transport_->wake();
  }
  void take_down() {
    const std::lock_guard lock(mutex_);
    transport_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Transport* transport_;
};

// Seconds since the epoch that never run backwards.
class Now {
 public:
  double operator()() const {
    return start_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - steady_).count();
  }

 private:
  double start_ = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
};

class Pump {
 public:
  Pump(Transport& transport, Agent& agent, Coordinator* coordinator, SideChannel* side, const std::atomic<bool>& stop)
      : transport_(transport), agent_(agent), coordinator_(coordinator), side_(side), stop_(stop) {}

  void run() {
    if (coordinator_ != nullptr) deliver(coordinator_->start(now_()));
    auto active = Clock::now();
    while (!over()) {
      if (turn()) {
        active = Clock::now();
      } else if (transport_.size() > 1 && Clock::now() - active < k_stay_awake) {
        std::this_thread::yield();
      } else {
        transport_.wait(k_longest_wait);
      }
    }
    send_frames();  // what was said last
  }

 private:
  bool over() const { return agent_.over() && (coordinator_ == nullptr || coordinator_->over()); }

  // Frames of the side channel that wait to leave. Whether there were any.
  bool send_frames() {
    if (side_ == nullptr) return false;
    const auto frames = side_->take_outgoing();
    for (const auto& [to, frame] : frames) transport_.send(to, frame);
    return !frames.empty();
  }

  // Whether anything happened.
  bool turn() {
    bool active = send_frames();
    if (!asked_to_stop_ && stop_.load()) {
      asked_to_stop_ = true;
      tell_coordinator(Stop{MK_CANCELLED, "stopped on request"});
    }
    for (const Message& message : agent_.collect(now_())) {
      tell_coordinator(message);
      active = true;
    }
    // An agent that leaves listens no more: the BYE that follows is for participate().
    while (coordinator_ != nullptr || !agent_.leaving() || (side_ != nullptr && side_->busy())) {
      const auto received = transport_.poll();
      if (!received) break;
      active = receive(*received) || active;
    }
    watch_others();
    if (coordinator_ != nullptr) deliver(coordinator_->tick(now_()));
    return active;
  }

  // What the transport knows of dead nodes, and what it should know.
  void watch_others() {
    if (coordinator_ == nullptr) {
      if (transport_.lost(0)) agent_.lose_node_0("node 0 died");
      // Behind a STOP the leader still has its last word with the others; behind a FINISH nobody has.
      const bool finished = agent_.leaving() && !agent_.stopped();
      if (side_ != nullptr && (finished || agent_.node_0_lost())) side_->lost(0);
      return;
    }
    for (uint32_t node = 1; node < transport_.size(); ++node)
      if (transport_.lost(node)) deliver(coordinator_->gone(node, now_()));
    for (const uint32_t node : coordinator_->lost()) {
      transport_.forget(node);
      if (side_ != nullptr) side_->lost(node);
    }
  }

  // Whether more may follow at once: not behind a heartbeat.
  bool receive(const Transport::Received& received) {
    try {
      if (SideChannel::is_frame(received.text)) {
        if (side_ == nullptr) throw Error(MK_INTERNAL, "it was not expected");
        side_->received(received.from, received.text, received.owner);
        return true;
      }
      const Message message = decode(received.text);
      const bool beat = std::holds_alternative<Beat>(message);
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
  Coordinator* coordinator_;  // rank 0 only
  SideChannel* side_;         // or null
  const std::atomic<bool>& stop_;
  Now now_;
  bool asked_to_stop_ = false;
};

}  // namespace

Outcome run(Transport& transport, const Handshake& handshake, const AgentSetup& agent_setup,
            const CoordinatorSetup* coordinator_setup, journal::Journal& journal, const std::atomic<bool>& stop) {
  const bool leads = transport.rank() == 0;
  if (leads != (coordinator_setup != nullptr)) throw Error(MK_INTERNAL, "rank 0 and only rank 0 coordinates");
  if (leads && handshake.nodes.at(0) != agent_setup.devices) {
    throw Error(MK_INTERNAL, "the devices of this node are not those it named in its HELLO");
  }
  bool gave_up = false;
  std::optional<Coordinator> coordinator;
  if (leads) {
    CoordinatorSetup setup = *coordinator_setup;
    setup.on_given_up = [&, outer = setup.on_given_up](const journal::FitRecord& record) {
      gave_up = true;
      journal.append(record, {});
      if (outer) outer(record);
    };
    coordinator.emplace(std::move(setup), handshake.nodes);
  }
  const auto bell = std::make_shared<Doorbell>(transport);
  const std::shared_ptr<void> until_the_end(nullptr, [bell](void*) { bell->take_down(); });
  auto agent = std::make_unique<Agent>(agent_setup, journal, [bell] { bell->ring(); });
  if (agent_setup.side != nullptr) agent_setup.side->on_ring([bell] { bell->ring(); });
  Pump(transport, *agent, coordinator ? &*coordinator : nullptr, agent_setup.side, stop).run();
  const std::optional<Stop> stopped = agent->stopped();
  if (!agent->abandoned().empty()) {
    static_cast<void>(agent.release());  // its feeder still uses it
    if (agent_setup.on_abandoned) agent_setup.on_abandoned();
  }
  agent.reset();
  if (stopped && stopped->code != MK_CANCELLED) throw Error(static_cast<mk_status>(stopped->code), stopped->reason);
  if (gave_up) journal.flush();
  Outcome outcome;
  outcome.finished = !stopped;
  if (stopped) outcome.reason = stopped->reason;
  if (coordinator) {
    outcome.records = coordinator->records();
    outcome.lost = coordinator->lost();
  }
  return outcome;
}

void attend(Transport& transport, const std::function<void()>& work) {
  std::future<void> done = std::async(std::launch::async, work);
  const std::chrono::milliseconds nap(transport.size() == 1 ? 1000 : 5);
  while (done.wait_for(nap) != std::future_status::ready) {
    while (const auto received = transport.poll()) {
      if (SideChannel::is_frame(received->text)) continue;  // a late word of a team
      if (std::holds_alternative<Beat>(decode(received->text))) transport.send(received->from, encode(Finish{}));
    }
  }
  done.get();
}

}  // namespace mokume::cluster
