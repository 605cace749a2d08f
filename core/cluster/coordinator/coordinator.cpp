#include "cluster/coordinator/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "journal/agree.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

constexpr uint32_t kNoBundle = UINT32_MAX;

std::vector<scheduler::Unit> units_of(const std::vector<std::vector<LocalDevice>>& nodes) {
  std::vector<scheduler::Unit> units;
  for (const auto& devices : nodes)
    for (const LocalDevice& one : devices) units.push_back({one.device_class, one.budget_bytes, one.speed, one.spare});
  return units;
}

}  // namespace

Coordinator::Coordinator(PlannedWork work, std::vector<std::vector<LocalDevice>> nodes, SearchRules& rules,
                         Observers observers, const Limits& limits, const std::set<uint32_t>& absent)
    : work_(std::move(work)),
      rules_(rules),
      observers_(std::move(observers)),
      limits_(limits),
      policy_(with_refits(work_), units_of(nodes)),
      bundle_of_(work_.n_fits + work_.refit_after.size(), kNoBundle),
      done_(bundle_of_.size()),
      coming_(bundle_of_.size(), 0),
      attempts_(bundle_of_.size(), 0),
      refits_behind_(work_.n_fits),
      refit_of_(work_.refit_after.size()),
      noted_fits_(work_.refit_after.size()),
      failures_(static_cast<uint32_t>(units_of(nodes).size())) {
  work_.bundles = {};
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    const bool gone = absent.count(node) > 0;
    nodes_.push_back({std::move(nodes[node]), static_cast<uint32_t>(units_.size()), 0, false, gone, {}});
    for (uint32_t device = 0; device < nodes_[node].devices.size(); ++device)
      units_.push_back({node, device, false, std::nullopt, 0, std::nullopt, std::nullopt});
  }
  if (work_.decides) may_begin_.assign(work_.n_fits, false);
  index_bundles();
  std::vector<uint32_t> candidates;
  for (uint32_t fit = 0; fit < slots(); ++fit) candidates.push_back(policy_.candidate(fit));
  failures_ = Failures(static_cast<uint32_t>(units_.size()), std::move(candidates));
  index_refits();
  for (const auto& [slot, attempt] : work_.attempts) attempts_.at(slot) = attempt;
  for (journal::FitRecord& record : work_.done) {
    if (record.fit >= slots() || done_[record.fit]) {
      throw Error(MK_INTERNAL, fmt::format("fit {} appears twice among the finished fits, or is unknown", record.fit));
    }
    for (const uint32_t fit : policy_.bundle(bundle_of_[record.fit]).fits)
      attempts_[fit] = std::max(attempts_[fit], record.attempt);
    if (journal::has_result(record.status)) failures_.succeeded(record.fit);
    count(std::move(record));
  }
  for (const scheduler::TimedWork& timed : work_.timed)
    if (!timed.device_class.empty()) policy_.teach(timed);
  for (uint32_t i = 0; i < policy_.bundles(); ++i) {
    if (left(policy_.bundle(i).fits).empty()) {
      policy_.finished(i);
    } else if (parts_[i].may_wait()) {
      policy_.wait(i);
    }
  }
  decide_at_start();
  check_placeable();
}

void Coordinator::index_bundles() {
  for (uint32_t i = 0; i < policy_.bundles(); ++i) {
    const std::vector<uint32_t>& fits = policy_.bundle(i).fits;
    const bool refit = i + work_.refit_after.size() >= policy_.bundles();
    parts_.push_back({i, 0, false, "", std::nullopt, refit, !refit && work_.decides});
    for (const uint32_t fit : fits) {
      if (is_refit(fit) != refit || fit >= slots() || bundle_of_[fit] != kNoBundle) {
        throw Error(MK_DEVICE_ERROR, fmt::format("the model put fit {} into bundle {}, but it is already in another "
                                                 "one or not in the plan; the model library is faulty",
                                                 fit, i));
      }
      bundle_of_[fit] = i;
    }
  }
  const auto missing = std::find(bundle_of_.begin(), bundle_of_.end(), kNoBundle);
  if (missing != bundle_of_.end()) {
    throw Error(MK_DEVICE_ERROR, fmt::format("the model put fit {} into no bundle; the model library is faulty",
                                             missing - bundle_of_.begin()));
  }
}

Coordinator::Out Coordinator::handle(uint32_t from, const Message& message, double now) {
  Out out;
  now_ = now;
  try {
    mark_alive(from);
    std::visit([&](const auto& one) { take(from, one, out); }, message);
    settle(out);
  } catch (const Error& error) {
    take(from, Stop{error.status(), error.what()}, out);
  }
  return out;
}

Coordinator::Out Coordinator::tick(double now, const std::vector<uint32_t>& dead) {
  Out out;
  now_ = now;
  try {
    for (const uint32_t node : dead)
      if (!nodes_.at(node).lost && !nodes_[node].said_bye) lose(node, fmt::format("node {} died", node));
    const double listened = listening_.turn(now);
    for (uint32_t node = 1; node < nodes_.size(); ++node)
      if (!nodes_[node].lost && !nodes_[node].said_bye && listened - nodes_[node].heard > limits_.lease_s)
        lose(node, fmt::format("node {} did not respond for {:.0f} s", node, limits_.lease_s));
    settle(out);
  } catch (const Error& error) {
    take(0, Stop{error.status(), error.what()}, out);
  }
  return out;
}

bool Coordinator::over() const {
  return ending_ && std::all_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.said_bye || n.lost; });
}

void Coordinator::take(uint32_t from, const Request& request, Out& out) {
  const uint32_t asks = unit_index(from, request.device);
  if (ending_) return answer_ended(from, out);
  is_free(asks);  // only an idle unit sends a request
  if (auto granted = grant(asks, request.device)) {
    out.emplace_back(from, std::move(*granted));
  } else {
    out.emplace_back(from, None{request.device});
  }
}

std::optional<Grant> Coordinator::grant(uint32_t index, uint32_t device) {
  RunDevice& asks = units_[index];
  if (asks.lease || now_ < asks.rest_until) return std::nullopt;
  if (const auto fit = std::exchange(asks.probe, std::nullopt))
    return open_lease(index, device, {bundle_of_[*fit]}, probe_attempt(*fit), true);
  const auto choose = [&] {
    return failures_.in_a_row(index) == 0 ? policy_.next(index, now_) : choose_after_failure(index);
  };
  auto picked = choose();
  if (!picked && work_.decides && is_news_) {
    decide();
    picked = choose();
  }
  if (!picked) return std::nullopt;
  std::vector<uint32_t> bundles = picked->bundles;
  if (std::any_of(bundles.begin(), bundles.end(), [&](uint32_t i) { return has_notes_coming(i); })) {
    policy_.ended(index, {}, 0, now_);
    return std::nullopt;
  }
  const auto alone = std::find_if(bundles.begin(), bundles.end(), [&](uint32_t i) { return parts_[i].alone; });
  if (alone != bundles.end()) bundles = {*alone};  // the other bundles wait until this one has ended
  Attempt attempt = attempt_at(bundles);
  attempt.backup = picked->backup;
  return open_lease(index, device, bundles, std::move(attempt), false);
}

Grant Coordinator::open_lease(uint32_t index, uint32_t device, const std::vector<uint32_t>& bundles, Attempt attempt,
                              bool probe) {
  Grant granted{next_lease_++, device, std::move(attempt)};
  for (const uint32_t fit : granted.attempt.fits)
    granted.attempt.number = std::max(granted.attempt.number, attempts_[fit] + 1);
  for (const uint32_t fit : granted.attempt.fits) attempts_[fit] = granted.attempt.number;
  units_[index].lease = granted.lease;
  std::vector<uint32_t> fits = granted.attempt.fits;
  std::sort(fits.begin(), fits.end());
  leases_.emplace(granted.lease,
                  Lease{index, granted.attempt.number, bundles, std::move(fits), true, probe, false, {}, 0});
  return granted;
}

void Coordinator::take(uint32_t from, const Done& done, Out&) {
  Lease& held = lease(from, done.lease);
  for (const journal::FitRecord& record : done.records) {
    take_record(from, held, record);
    if (held.coming.erase(record.fit) > 0) --coming_[record.fit];
  }
}

void Coordinator::take_record(uint32_t from, Lease& held, journal::FitRecord record) {
  if (!std::binary_search(held.fits.begin(), held.fits.end(), record.fit)) {
    throw Error(MK_INTERNAL, fmt::format("fit {} was reported, but it is not in the lease", record.fit));
  }
  const LocalDevice& by = device(units_[held.unit]);
  if (record.status == journal::FitStatus::dropped)
    throw Error(MK_INTERNAL, fmt::format("fit {} was reported as dropped, which only node 0 decides", record.fit));
  try {
    if (from != 0) is_refit(record.fit) ? check_refit(record, work_.bounds) : check_fit(record, work_.bounds);
  } catch (const Error& e) {
    throw Error(MK_INTERNAL, fmt::format("{} of node {} reported fit {} with values out of range: {}", by.id, from,
                                         record.fit, e.what()));
  }
  record.node = from;
  record.bundle = held.bundles.front();
  record.attempt = held.attempt;
  record.device = by.id;
  record.device_class = by.device_class;
  std::optional<journal::FitRecord>& known = done_[record.fit];
  if (known && given_up_.count(record.fit) == 0) {
    if (journal::same_result(*known, record)) return;
    supersede(record);
    // Only readers of the journals compare results of different classes, which may differ within a tolerance.
    if (!must_be_equal(*known, record, work_.bounds)) return;
    if (held.probe) {
      last_error_ = {MK_DEVICE_ERROR,
                     fmt::format("{} gave a different result for fit {} than before", by.id, record.fit)};
      return quarantine(held.unit, last_error_.reason);
    }
    throw Error(MK_INTERNAL, fmt::format("fit {} gave a different result on {} of node {} than on {} of node {}",
                                         record.fit, record.device, from, known->device, known->node));
  }
  if (known) return supersede(record);
  ++held.own;
  blocklist_.erase(record.fit);
  if (journal::has_result(record.status)) failures_.succeeded(record.fit);
  const uint32_t fit = record.fit, bundle = bundle_of_[fit];
  count(std::move(record));
  if (left(policy_.bundle(bundle).fits).empty()) policy_.finished(bundle);
  release_next(bundle);
  notify(observers_, &Observer::fit_done, *done_[fit]);
}

// Notes that `record` does not count. Both records are on disk; refits and readers use the one that arrived first.
void Coordinator::supersede(const journal::FitRecord& record) const {
  const journal::FitRecord& known = *done_[record.fit];
  const std::string why = known.device.empty() ? "the fit had been given up"
                                               : fmt::format("{} of node {} was first", known.device, known.node);
  notify(observers_, &Observer::event, journal::supersede(record, now_, why));
}

void Coordinator::count(journal::FitRecord record) {
  const uint32_t fit = record.fit;
  done_[fit] = std::move(record);
  ++n_done_;
  if (is_refit(fit)) return;
  is_news_ = true;
  note_ready(fit);
  if (done_[fit]->status == journal::FitStatus::dropped) return;
  if (const auto loss = rules_.loss(*done_[fit])) policy_.scored(fit, *loss);
}

void Coordinator::take(uint32_t from, const LeaseEnd& end, Out&) {
  Lease& held = lease(from, end.lease);
  if (held.ended) return;
  held.ended = true;
  nodes_[from].cancel.erase(end.lease);
  if (units_[held.unit].orphan == end.lease) is_free(held.unit);
  for (const uint32_t fit : end.coming) {
    if (!std::binary_search(held.fits.begin(), held.fits.end(), fit)) {
      throw Error(MK_INTERNAL, fmt::format("fit {} was announced, but it is not in the lease", fit));
    }
    if (!done_[fit] && held.coming.insert(fit).second) ++coming_[fit];
  }
  const bool complete = end.status == MK_OK;
  if (complete || held.own > 0 || !held.coming.empty()) failures_.worked(held.unit);
  if (!held.open) return;  // the lease was given up before
  close(held, complete && !held.probe ? end.seconds : 0);
  if (held.probe) return end_probe(held, end);
  if (ending_ || end.status == MK_CANCELLED) return;
  const std::vector<uint32_t> missing = left(held.fits);
  if (missing.empty()) return;
  if (!complete) return fail(held, missing, end);
  throw Error(MK_DEVICE_ERROR,
              fmt::format("{} ended bundle {} without a result for fit {}; the model library is faulty",
                          device(units_[held.unit]).id, held.bundles.front(), missing.front()));
}

// Closes the lease. Afterwards, the policy regards the unit as idle.
void Coordinator::close(Lease& held, double seconds) {
  std::vector<uint32_t> over;
  for (const uint32_t bundle : held.bundles)
    if (left(policy_.bundle(bundle).fits).empty()) over.push_back(bundle);
  held.open = false;
  units_[held.unit].lease.reset();
  policy_.ended(held.unit, over, seconds, now_);
  if (over.size() < held.bundles.size()) placement_changed_ = true;
}

void Coordinator::take(uint32_t from, const Heartbeat& beat, Out& out) {
  for (const Heartbeat::State& state : beat.states) {
    const uint32_t index = unit_index(from, state.device);
    if (!state.what.empty()) notify(observers_, &Observer::device_state, from, state.device, state.what, state.share);
    const bool runs = units_[index].lease == state.lease || units_[index].orphan == state.lease;
    if (runs && !ending_) hang(state.lease, state.quiet_s);
  }
  if (ending_) return answer_ended(from, out);
  const std::set<uint64_t>& cancel = nodes_[from].cancel;
  out.emplace_back(from, Ack{{cancel.begin(), cancel.end()}});
}

void Coordinator::take(uint32_t from, const Stop& why, Out& out) {
  if (ending_) return;  // the first reason counts
  const bool local = from == 0 || why.code == MK_CANCELLED;
  end(Stop{why.code, local ? why.reason : fmt::format("node {}: {}", from, why.reason)}, out);
}

void Coordinator::take(uint32_t from, const Bye&, Out&) {
  nodes_[from].said_bye = true;
  if (!ending_) lose(from, fmt::format("node {} left", from));
}

template <class Unexpected>
void Coordinator::take(uint32_t, const Unexpected&, Out&) {
  throw Error(MK_INTERNAL, "it sent a message that only node 0 sends, or that is out of turn");
}

void Coordinator::settle(Out& out) {
  if (ending_) return;
  for (const uint32_t index : policy_.superfluous()) {
    const RunDevice& one = units_[index];
    if (!one.lease) continue;
    const Lease& held = leases_.at(*one.lease);
    const bool by_itself = held.own == held.fits.size();  // the lease is about to end without a cancellation
    if (!by_itself) nodes_[one.node].cancel.insert(*one.lease);
  }
  cancel_orphans();
  decide_when_idle();
  fill_refits();
  if (!blocklist_.empty()) give_up_blocklisted(out);
  if (!ending_ && placement_changed_) {
    placement_changed_ = false;
    stop_without_devices(out);
    if (!ending_) give_up_unplaceable(out);
  }
  if (!ending_) decide_when_idle();  // the last fit that a decision or a refit waits for may just have been given up
  if (!ending_) fill_refits();
  if (!ending_ && n_done_ == slots()) end(std::nullopt, out);
}

// Tells node 0 at once. The other nodes learn of the end from the answer to their next message.
void Coordinator::end(std::optional<Stop> why, Out& out) {
  ending_ = true;
  stopped_ = std::move(why);
  answer_ended(0, out);
}

void Coordinator::answer_ended(uint32_t to, Out& out) const {
  if (stopped_) {
    out.emplace_back(to, *stopped_);
  } else {
    out.emplace_back(to, Finish{});
  }
}

uint32_t Coordinator::unit_index(uint32_t node, uint32_t device) const {
  if (node >= nodes_.size() || device >= nodes_[node].devices.size()) {
    throw Error(MK_INTERNAL, fmt::format("there is no device {} on node {}", device, node));
  }
  return nodes_[node].first_unit + device;
}

Coordinator::Lease& Coordinator::lease(uint32_t node, uint64_t id) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || units_[found->second.unit].node != node) {
    throw Error(MK_INTERNAL, fmt::format("lease {} was never granted to this node", id));
  }
  return found->second;
}

std::vector<uint32_t> Coordinator::left(const std::vector<uint32_t>& fits) const {
  std::vector<uint32_t> open;
  for (const uint32_t fit : fits)
    if (!is_over(fit)) open.push_back(fit);
  return open;
}

Attempt Coordinator::attempt_at(const std::vector<uint32_t>& bundles) const {
  Attempt attempt;
  attempt.bundle = bundles.front();
  if (const uint32_t first = policy_.bundle(bundles.front()).fits.front(); is_refit(first)) {
    attempt.fits = {first};
    attempt.refit = refit_of_[first - work_.n_fits];
    for (const uint32_t fit : noted_fits_[first - work_.n_fits]) {
      attempt.done_fits.push_back(fit);
      attempt.done_notes.push_back(done_[fit]->note);
    }
    return attempt;
  }
  std::set<uint32_t> origins;
  for (const uint32_t bundle : bundles) {
    for (const uint32_t fit : policy_.bundle(bundle).fits)
      if (!is_over(fit)) attempt.fits.push_back(fit);
    // A part of a bundle still shares work with the finished fits of the whole bundle.
    if (!origins.insert(parts_[bundle].origin).second) continue;
    for (const uint32_t fit : policy_.bundle(parts_[bundle].origin).fits) {
      if (!done_[fit] || given_up_.count(fit) > 0) continue;
      attempt.done_fits.push_back(fit);
      attempt.done_notes.push_back(done_[fit]->note);
    }
  }
  return attempt;
}

// Returns whether records that were reported before a failure will soon reach the disk. The remaining fits may build on
// them.
bool Coordinator::has_notes_coming(uint32_t bundle) const {
  const std::vector<uint32_t>& fits = policy_.bundle(parts_[bundle].origin).fits;
  return std::any_of(fits.begin(), fits.end(), [&](uint32_t fit) { return !done_[fit] && coming_[fit] > 0; });
}

std::vector<journal::FitRecord> Coordinator::records() const {
  std::vector<journal::FitRecord> records;
  for (const auto& one : done_)
    if (one && unneeded_.count(one->fit) == 0) records.push_back(*one);
  return records;
}

}  // namespace mokume::cluster
