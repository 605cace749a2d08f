#include "cluster/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cluster/agent.hpp"
#include "cluster/coordinator.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

using std::chrono::microseconds;

// Wakes the pump when a feeder, the journal or the side channel has something for it.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    wake_.notify_one();
  }
  void wait(microseconds at_most) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, at_most, [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool rung_ = false;
};

// How long the pump sleeps when nothing happened. The doorbell cuts it short; messages of other nodes cannot, so with
// them the sleep is short, and shorter just after something happened. It is longer while a team is at work: who needs a
// message then rings the bell, and until then every waking takes the core from somebody's computing (at 500 us, 5 %).
// Alone, it ends only to look at `stop`.
class Nap {
 public:
  explicit Nap(bool alone) : alone_(alone) {}
  microseconds next(bool team_works) {
    if (alone_) return microseconds(100'000);
    const microseconds longest(team_works ? 5000 : 500);
    length_ = std::min(length_, longest);
    return std::exchange(length_, length_ * 2);
  }
  void reset() { length_ = microseconds(20); }

 private:
  bool alone_;
  microseconds length_{20};
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
  Pump(Transport& transport, Agent& agent, Coordinator* coordinator, SideChannel* side, Doorbell& bell,
       const std::atomic<bool>& stop)
      : transport_(transport), agent_(agent), coordinator_(coordinator), side_(side), bell_(bell), stop_(stop) {}

  void run() {
    Nap nap(transport_.size() == 1);
    if (coordinator_ != nullptr) deliver(coordinator_->start(now_()));
    while (!over()) {
      if (turn()) {
        nap.reset();
      } else {
        // Large frames are on their way for many turns; who waits for them has left its core to this thread.
        if (side_ != nullptr && transport_.size() > 1 && side_->waiting())
          std::this_thread::yield();
        else
          bell_.wait(nap.next(side_ != nullptr && side_->computing()));
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
    for (const auto& [to, frame] : frames) transport_.send(to, *frame);
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
      receive(*received);
      active = true;
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

  void receive(const Transport::Received& received) {
    try {
      if (SideChannel::is_frame(received.text)) {
        if (side_ == nullptr) throw Error(MK_INTERNAL, "it was not expected");
        return side_->received(received.from, received.text);
      }
      const Message message = decode(received.text);
      if (coordinator_ != nullptr) {
        deliver(coordinator_->handle(received.from, message, now_()));
      } else if (received.from == 0) {
        agent_.handle(message, now_());
      } else {
        throw Error(MK_INTERNAL, fmt::format("node {} wrote to this node, which is not node 0", received.from));
      }
    } catch (const Error& error) {
      tell_coordinator(Stop{error.status(), fmt::format("a message of node {}: {}", received.from, error.what())});
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
  Doorbell& bell_;
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
  const auto bell = std::make_shared<Doorbell>();
  auto agent = std::make_unique<Agent>(agent_setup, journal, [bell] { bell->ring(); });
  if (agent_setup.side != nullptr) agent_setup.side->on_ring([bell] { bell->ring(); });
  Pump(transport, *agent, coordinator ? &*coordinator : nullptr, agent_setup.side, *bell, stop).run();
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
