#include "cluster/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

constexpr std::chrono::milliseconds k_beat(500);
constexpr std::chrono::milliseconds k_ask_again(200);  // after a NONE

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Stop describe(const std::exception_ptr& error, const std::string& device) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    // Whoever stops unasked has failed.
    const bool failure = e.status() > MK_OK && e.status() != MK_CANCELLED;
    return {failure ? e.status() : MK_INTERNAL, fmt::format("{}: {}", device, e.what())};
  } catch (const std::exception& e) {
    return {MK_INTERNAL, fmt::format("{}: {}", device, e.what())};
  } catch (...) {
    return {MK_INTERNAL, fmt::format("{}: an exception of unknown type", device)};
  }
}

}  // namespace

// Lives on the feeder's thread for one lease.
class Agent::LeaseReporter : public Reporter {
 public:
  LeaseReporter(Agent& agent, const Grant& grant)
      : agent_(agent), grant_(grant), left_(grant.item.fits.begin(), grant.item.fits.end()), start_s_(now_s()) {}

  void report(const journal::FitRecord& given) override {
    if (left_.erase(given.fit) == 0) {
      throw Error(MK_DEVICE_ERROR, fmt::format("fit {} was reported, which is not in bundle {} or was reported before; "
                                               "the model library is faulty",
                                               given.fit, grant_.item.bundle));
    }
    journal::FitRecord record = given;
    record.node = 0;  // the file, and for rank 0 the sender, say it
    record.device = agent_.setup_.devices[grant_.device].id;
    record.device_class = agent_.setup_.devices[grant_.device].device_class;
    record.bundle = grant_.item.bundle;
    record.attempt = grant_.item.attempt;
    record.start_s = start_s_;
    record.end_s = now_s();
    agent_.journal_.append(record, [&agent = agent_, lease = grant_.lease, record] {
      if (agent.setup_.on_durable) agent.setup_.on_durable(record.fit);
      {
        const std::lock_guard lock(agent.inbox_mutex_);
        agent.inbox_.durable.emplace_back(lease, record);
      }
      agent.ring_();
    });
    ++reported_;
  }

  void progress(const std::string& what, double share) override {
    const std::lock_guard lock(agent_.inbox_mutex_);
    agent_.inbox_.states[grant_.device] = {what, share >= 0 ? std::min(share, 1.0) : 0.0, true};
  }

  bool cancelled() const override { return agent_.cancelled_.load(std::memory_order_relaxed); }

  uint64_t reported() const { return reported_; }

 private:
  Agent& agent_;
  const Grant& grant_;
  std::set<uint32_t> left_;
  double start_s_;
  uint64_t reported_ = 0;
};

Agent::Agent(const AgentSetup& setup, journal::Journal& journal, std::function<void()> ring)
    : setup_(setup),
      journal_(journal),
      ring_(std::move(ring)),
      devices_(setup.devices.size()),
      inbox_{{}, {}, {}, std::vector<State>(setup.devices.size())},
      feeders_(static_cast<uint32_t>(setup.devices.size()), [](uint32_t, const std::exception_ptr&) {}) {
  journal_.on_failure([this](const Error& error) {
    {
      const std::lock_guard lock(inbox_mutex_);
      inbox_.journal_failure = Stop{error.status(), error.what()};
    }
    ring_();
  });
}

Agent::~Agent() {
  cancelled_ = true;
  feeders_.stop();
  journal_.on_failure({});
  try {
    journal_.flush();
  } catch (const Error&) {
    // A journal that failed calls nobody any more.
  }
}

void Agent::handle(const Message& message) {
  if (const Grant* granted = std::get_if<Grant>(&message)) {
    grant(*granted);
  } else if (const None* none = std::get_if<None>(&message)) {
    if (none->device >= devices_.size() || devices_[none->device].lane != Lane::asked) {
      throw Error(MK_INTERNAL, "node 0 answered a request that was not made");
    }
    devices_[none->device] = {Lane::idle, Clock::now() + k_ask_again};
  } else if (const Stop* stop = std::get_if<Stop>(&message)) {
    stopped_ = *stop;
    cancelled_ = true;
    leaving_ = true;
  } else if (std::holds_alternative<Finish>(message)) {
    leaving_ = true;
  } else {
    throw Error(MK_INTERNAL, "node 0 sent a message that is out of turn");
  }
}

void Agent::grant(const Grant& grant) {
  if (grant.device >= devices_.size() || devices_[grant.device].lane != Lane::asked || leases_.count(grant.lease) > 0) {
    throw Error(MK_INTERNAL, "node 0 granted work that was not asked for");
  }
  devices_[grant.device].lane = Lane::busy;
  leases_[grant.lease].device = grant.device;
  feeders_.push(grant.device, [this, grant] { run_item(grant); });
}

// On the feeder's thread.
void Agent::run_item(const Grant& grant) {
  Ended ended{grant.lease, 0, {}};
  LeaseReporter reporter(*this, grant);
  try {
    setup_.work(grant.device, grant.item, reporter);
  } catch (...) {
    ended.error = describe(std::current_exception(), setup_.devices[grant.device].id);
  }
  ended.reported = reporter.reported();
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.ended.push_back(std::move(ended));
    inbox_.states[grant.device].fresh = false;
  }
  ring_();
}

std::vector<Message> Agent::collect(Clock::time_point now) {
  std::vector<Message> out;
  std::vector<std::pair<uint64_t, journal::FitRecord>> durable;
  std::vector<Ended> ended;
  std::optional<Stop> journal_failure;
  {
    const std::lock_guard lock(inbox_mutex_);
    durable.swap(inbox_.durable);
    ended.swap(inbox_.ended);
    journal_failure.swap(inbox_.journal_failure);
  }
  if (journal_failure) {
    journal_failed_ = true;
    fail(*journal_failure, out);
  }
  take_durable(std::move(durable), out);
  take_ended(ended, out);
  close_leases(out);
  if (!leaving_) {
    if (!failed_) ask(now, out);
    beat(now, out);
  } else if (!said_bye_ && quiet()) {
    out.emplace_back(Bye{});
    said_bye_ = true;
  }
  return out;
}

void Agent::take_durable(std::vector<std::pair<uint64_t, journal::FitRecord>> durable, std::vector<Message>& out) {
  std::map<uint64_t, Done> batches;
  for (auto& [lease, record] : durable) {
    ++leases_.at(lease).durable;
    Done& batch = batches[lease];
    batch.lease = lease;
    batch.records.push_back(std::move(record));
  }
  for (auto& [lease, batch] : batches) out.emplace_back(std::move(batch));
}

void Agent::take_ended(const std::vector<Ended>& ended, std::vector<Message>& out) {
  for (const Ended& one : ended) {
    Lease& lease = leases_.at(one.lease);
    lease.to_come = one.reported;
    devices_[lease.device] = {Lane::idle, {}};
    if (one.error || cancelled_) lease.complete = false;
    if (one.error && !cancelled_) fail(*one.error, out);
  }
}

void Agent::close_leases(std::vector<Message>& out) {
  for (auto at = leases_.begin(); at != leases_.end();) {
    const Lease& lease = at->second;
    if (!lease.to_come || lease.durable < *lease.to_come) {
      ++at;
      continue;
    }
    if (lease.complete) out.emplace_back(BundleDone{at->first});
    at = leases_.erase(at);
  }
}

void Agent::fail(const Stop& why, std::vector<Message>& out) {
  if (!failed_) out.emplace_back(why);
  failed_ = true;
}

void Agent::ask(Clock::time_point now, std::vector<Message>& out) {
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].lane != Lane::idle || now < devices_[i].ask_at) continue;
    devices_[i].lane = Lane::asked;
    out.emplace_back(Request{i});
  }
}

void Agent::beat(Clock::time_point now, std::vector<Message>& out) {
  if (now < next_beat_) return;
  next_beat_ = now + k_beat;
  Beat beat;
  {
    const std::lock_guard lock(inbox_mutex_);
    for (uint32_t i = 0; i < devices_.size(); ++i) {
      const State& state = inbox_.states[i];
      if (devices_[i].lane == Lane::busy && state.fresh) beat.states.push_back({i, state.what, state.share});
    }
  }
  if (!beat.states.empty()) out.emplace_back(std::move(beat));
}

// No work runs and nothing reported is still on its way to the disk.
bool Agent::quiet() const {
  const bool busy = std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.lane == Lane::busy; });
  return !busy && (leases_.empty() || journal_failed_);
}

}  // namespace mokume::cluster
