#include "cluster/agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cluster/protocol/codec.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

constexpr double kFirstPauseSeconds = 0.02, kLongestPauseSeconds = 0.5;  // pauses after a NONE

// Returns whether every device would fail alike: these faults lie in the data, the experiment or this node's disk.
bool is_fatal(mk_status status) {
  return status == MK_BAD_DATA || status == MK_INVALID_ARGUMENT || status == MK_STORAGE;
}

}  // namespace

// Reports the work of one lease. Only the feeder's thread uses it.
class Agent::LeaseReporter : public Reporter {
 public:
  LeaseReporter(Agent& agent, const Grant& grant, const std::atomic<bool>& cancelled)
      : agent_(agent),
        grant_(grant),
        cancelled_(cancelled),
        left_(grant.attempt.fits.begin(), grant.attempt.fits.end()),
        start_s_(agent.clock_.wall_s()) {
    start_j_ = read_energy();
  }

  void report(const journal::FitRecord& given) override {
    if (left_.erase(given.fit) == 0)
      refuse(fmt::format("fit {} was reported, but it is not in bundle {} or was reported before", given.fit,
                         grant_.attempt.bundle));
    const LocalDevice& by = agent_.local_[grant_.device];
    journal::FitRecord record = given;
    record.node = 0;  // the file's name, or the sender of the message, identifies the node
    record.device = by.id;
    record.device_class = by.device_class;
    record.bundle = grant_.attempt.bundle;
    record.attempt = grant_.attempt.number;
    record.start_s = start_s_;
    record.end_s = agent_.clock_.wall_s();
    record.energy_j.reset();
    if (const auto now_j = read_energy(); now_j && start_j_) record.energy_j = std::max(0.0, *now_j - *start_j_);
    try {
      grant_.attempt.refit ? check_refit(record, agent_.bounds_) : check_fit(record, agent_.bounds_);
    } catch (const Error& error) {
      refuse(fmt::format("fit {} was reported with values out of range ({})", given.fit, error.what()));
    }
    uint64_t line = 0;
    try {
      line = agent_.journal_.append(record);
    } catch (const Error& error) {
      fatal_ = Stop{error.status(), error.what()};
      throw;
    }
    {
      const std::lock_guard lock(agent_.inbox_mutex_);
      agent_.inbox_.reported.push_back({line, grant_.lease, std::move(record)});
      agent_.inbox_.states[grant_.device].alive = true;
    }
    if (agent_.journal_.durable() >= line) agent_.wake_();  // the journal may have woken the loop too early
  }

  void progress(const std::string& what, double share) override {
    constexpr double kEnergySeconds = 10;
    if (start_j_ && agent_.clock_.steady_s() >= energy_read_s_ + kEnergySeconds) read_energy();
    const std::lock_guard lock(agent_.inbox_mutex_);
    agent_.inbox_.states[grant_.device] = {what, share >= 0 ? std::min(share, 1.0) : 0.0, true};
  }

  bool cancelled() const override { return cancelled_.load(std::memory_order_relaxed); }

  const std::optional<Stop>& fatal() const { return fatal_; }

 private:
  std::optional<double> read_energy() {
    energy_read_s_ = agent_.clock_.steady_s();
    return agent_.executor_.energy_j(grant_.device);
  }

  // Stops the run, because any other device would report the same.
  [[noreturn]] void refuse(const std::string& why) {
    fatal_ = Stop{MK_DEVICE_ERROR, why + "; the model library is faulty"};
    throw Error(MK_DEVICE_ERROR, fatal_->reason);
  }

  Agent& agent_;
  const Grant& grant_;
  const std::atomic<bool>& cancelled_;
  std::set<uint32_t> left_;
  double start_s_;
  std::optional<double> start_j_;
  double energy_read_s_ = 0;  // time of the last reading, on the steady clock
  std::optional<Stop> fatal_;
};

Agent::Agent(Executor& executor, journal::Journal& journal, std::function<void()> wake, const Limits& limits,
             journal::Bounds bounds, TeamChannel* team, const base::Threads& threads)
    : executor_(executor),
      local_(executor.devices()),
      journal_(journal),
      wake_(std::move(wake)),
      limits_(limits),
      bounds_(std::move(bounds)),
      team_(team),
      clock_(threads.clock()),
      devices_(local_.size()),
      inbox_{{}, {}, std::vector<Activity>(local_.size())},
      feeders_(static_cast<uint32_t>(local_.size()), threads) {
  journal_.on_change(wake_);
}

Agent::~Agent() {
  for (auto& [id, lease] : leases_) *lease.cancelled = true;
  feeders_.stop();
  journal_.on_change({});
}

void Agent::handle(const Message& message, double now) {
  heard_ = listening_.seconds();
  if (const Grant* granted = std::get_if<Grant>(&message)) {
    grant(*granted);
  } else if (const None* none = std::get_if<None>(&message)) {
    if (none->device >= devices_.size() || devices_[none->device].lane != Lane::asked) {
      throw Error(MK_INTERNAL, "node 0 answered a request that was not made");
    }
    Device& device = devices_[none->device];
    device.lane = Lane::idle;
    device.pause_s = std::clamp(2 * device.pause_s, kFirstPauseSeconds, kLongestPauseSeconds);
    device.ask_at = now + device.pause_s;
  } else if (const Ack* ack = std::get_if<Ack>(&message)) {
    for (const uint64_t lease : ack->cancel) cancel(lease);
  } else if (const Stop* stop = std::get_if<Stop>(&message)) {
    leave(*stop);
  } else if (std::holds_alternative<Finish>(message)) {
    leave(std::nullopt);
  } else if (std::holds_alternative<Bye>(message)) {
    leave(Stop{MK_CANCELLED, "node 0 ended the run without this node, which had not responded"});
    node_0_lost_ = true;
  } else {
    throw Error(MK_INTERNAL, "node 0 sent a message that is out of turn");
  }
}

// Keeps the first reason, because node 0 repeats it in every answer until this node has left.
void Agent::leave(std::optional<Stop> why) {
  if (leaving_) return;
  leaving_ = true;
  stopped_ = std::move(why);
  for (auto& [id, lease] : leases_) *lease.cancelled = true;
}

void Agent::cancel(uint64_t lease) {
  const auto found = leases_.find(lease);
  if (found != leases_.end()) *found->second.cancelled = true;
}

void Agent::grant(const Grant& grant) {
  if (grant.device >= devices_.size() || devices_[grant.device].lane != Lane::asked || leases_.count(grant.lease) > 0) {
    throw Error(MK_INTERNAL, "node 0 granted work that was not requested");
  }
  devices_[grant.device] = {Lane::busy, grant.lease, 0, 0, listening_.seconds(), false, false};
  Lease& lease = leases_[grant.lease];
  lease.device = grant.device;
  if (leaving_) *lease.cancelled = true;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.states[grant.device] = {};
  }
  feeders_.push(grant.device, [this, grant, cancelled = lease.cancelled] { run_attempt(grant, cancelled); });
}

// Runs on the feeder's thread.
void Agent::run_attempt(const Grant& grant, const std::shared_ptr<std::atomic<bool>>& cancelled) {
  Ended ended;
  ended.message.lease = grant.lease;
  const double start = clock_.steady_s();
  LeaseReporter reporter(*this, grant, *cancelled);
  try {
    executor_.run(grant.device, grant.attempt, reporter, nullptr);
  } catch (...) {
    const Error error = sdk::current_error();
    const mk_status status = error.status() > MK_OK ? error.status() : MK_INTERNAL;
    const std::string text = clean_text(fmt::format("{}: {}", local_[grant.device].id, error.what()));
    ended.message.status = status;
    ended.message.text = text;
    if (status == MK_CANCELLED && !*cancelled) ended.message.status = MK_INTERNAL;  // nobody cancelled the lease
    if (is_fatal(status)) ended.fatal = Stop{status, text};
  }
  if (reporter.fatal()) ended.fatal = reporter.fatal();
  ended.message.seconds = clock_.steady_s() - start;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.ended.push_back(std::move(ended));
  }
  wake_();
}

std::vector<Message> Agent::collect(double now) {
  std::vector<Message> out;
  if (over_) return out;
  listening_.turn(now);
  std::vector<Ended> ended;
  {
    const std::lock_guard lock(inbox_mutex_);
    std::move(inbox_.reported.begin(), inbox_.reported.end(), std::back_inserter(reported_));
    inbox_.reported.clear();
    ended.swap(inbox_.ended);
    for (uint32_t i = 0; i < devices_.size(); ++i)
      if (std::exchange(inbox_.states[i].alive, false)) devices_[i].sign_at = listening_.seconds();
  }
  const std::optional<Error> journal_failure = journal_.failure();
  if (journal_failure && !journal_failed_) {
    journal_failed_ = true;
    fail(Stop{journal_failure->status(), journal_failure->what()}, out);
  }
  take_durable(out);
  take_ended(std::move(ended), out);
  watch_node_0();
  watch_devices();
  for (uint32_t i = 0; i < devices_.size() && !leaving_ && !failed_; ++i) {
    if (devices_[i].lane != Lane::idle || now < devices_[i].ask_at) continue;
    devices_[i].lane = Lane::asked;
    out.emplace_back(Request{i});
  }
  if (!node_0_lost_) beat(now, out);
  if (leaving_) try_to_end(out);
  return out;
}

void Agent::take_durable(std::vector<Message>& out) {
  const uint64_t durable = journal_.durable();
  const auto first_left = std::stable_partition(reported_.begin(), reported_.end(),
                                                [&](const Reported& one) { return one.line <= durable; });
  std::map<uint64_t, Done> batches;
  for (auto one = reported_.begin(); one != first_left; ++one) {
    executor_.saved(one->record.fit);
    Done& batch = batches[one->lease];
    batch.lease = one->lease;
    batch.records.push_back(std::move(one->record));
  }
  reported_.erase(reported_.begin(), first_left);
  for (auto& [id, batch] : batches) {
    const bool last =
        std::none_of(reported_.begin(), reported_.end(), [&, id = id](const auto& one) { return one.lease == id; });
    if (leases_.at(id).ended && last) leases_.erase(id);
    out.emplace_back(std::move(batch));
  }
}

void Agent::take_ended(std::vector<Ended> all, std::vector<Message>& out) {
  for (Ended& one : all) {
    const uint64_t id = one.message.lease;
    Lease& lease = leases_.at(id);
    for (const Reported& record : reported_)
      if (record.lease == id) one.message.coming.push_back(record.record.fit);
    lease.ended = true;
    devices_[lease.device] = {};
    if (one.message.coming.empty()) leases_.erase(id);
    if (one.fatal) fail(*one.fatal, out);
    out.emplace_back(std::move(one.message));
  }
}

void Agent::fail(const Stop& why, std::vector<Message>& out) {
  if (!failed_) out.emplace_back(why);
  failed_ = true;
  next_beat_ = 0;  // sends a heartbeat at once; the answer of node 0 stops the work
}

void Agent::beat(double now, std::vector<Message>& out) {
  if (now < next_beat_) return;
  next_beat_ = now + kHeartbeatSeconds;
  Heartbeat beat;
  {
    const std::lock_guard lock(inbox_mutex_);
    for (uint32_t i = 0; i < devices_.size(); ++i) {
      const Device& device = devices_[i];
      const Activity& state = inbox_.states[i];
      if (device.lane == Lane::busy) beat.states.push_back({i, device.lease, state.what, state.share, quiet(device)});
    }
  }
  out.emplace_back(std::move(beat));
}

void Agent::lose_node_0(const std::string& why) {
  leader_lost_ = leader_lost_ || !leaving_;
  leave(Stop{MK_CANCELLED, why});
  node_0_lost_ = true;
}

void Agent::watch_node_0() {
  const double silence = listening_.seconds() - heard_;
  if (leaving_ || silence <= 2 * limits_.lease_s) return;
  leader_silent_ = true;
  lose_node_0(fmt::format("node 0 did not respond for {:.0f} s", silence));
}

bool Agent::hangs(const Device& device, double patience_s) const {
  return device.lane == Lane::busy && *leases_.at(device.lease).cancelled &&
         quiet(device) >= limits_.hang_s + patience_s;
}

// Kills cancelled work that still gives no sign of life.
void Agent::watch_devices() {
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].given_up || !hangs(devices_[i])) continue;
    devices_[i].given_up = true;
    devices_[i].killed = executor_.kill(i);
  }
}

// Ends once no work runs except hanging work, and every reported fit is on disk or lost.
void Agent::try_to_end(std::vector<Message>& out) {
  std::vector<uint32_t> hanging;
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].lane != Lane::busy) continue;
    const double patience = devices_[i].killed ? kKillSeconds : 0;
    if (!hangs(devices_[i], patience)) return;
    hanging.push_back(i);
  }
  for (const auto& [id, lease] : leases_)
    if (lease.ended && !journal_failed_) return;
  if (team_ != nullptr && team_->busy()) return;
  if (!hanging.empty()) feeders_.abandon();
  abandoned_ = std::move(hanging);
  out.emplace_back(Bye{});  // sent even if node 0 seems lost, because it may only be suspended
  over_ = true;
}

}  // namespace mokume::cluster
