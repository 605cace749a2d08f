// Defines how the coordinator responds when work fails, hangs or fits on no device.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

using Kind = journal::EventRecord::Kind;

// A device pauses this long per consecutive failure, so that other devices may try first and its driver may recover.
constexpr double kRestSeconds = 0.2;
constexpr double kLongerThanPredicted = 10;

}  // namespace

void Coordinator::fail(const Lease& held, const std::vector<uint32_t>& fits, const LeaseEnd& end) {
  const RunDevice& on = units_[held.unit];
  const std::string text = end.text.empty() ? "it failed without an error message" : end.text;
  last_error_ = {end.status, nodes_.size() > 1 ? fmt::format("node {}: {}", on.node, text) : text};
  if (end.status == MK_OUT_OF_MEMORY) {
    move_to_larger(held, fits, text);
  } else {
    count_failures(held, fits, text);
  }
  placement_changed_ = true;
}

// Splits work that exceeds the memory of the device, first into bundles, then into fits. A single fit that exceeds the
// memory needs a larger device.
void Coordinator::move_to_larger(const Lease& held, const std::vector<uint32_t>& fits, const std::string& text) {
  for (const uint32_t fit : fits)
    note(Kind::moved, &units_[held.unit], units_[held.unit].node, fit, held.attempt, text);
  for (const uint32_t bundle : held.bundles) {
    parts_[bundle].alone = true;
    if (held.bundles.size() > 1) continue;
    if (left(policy_.bundle(bundle).fits).size() > 1) {
      take_apart(bundle);
      continue;
    }
    policy_.needs_more_than(bundle, device(units_[held.unit]).budget_bytes);
    parts_[bundle].too_large = text;
  }
}

void Coordinator::count_failures(const Lease& held, const std::vector<uint32_t>& fits, const std::string& text) {
  RunDevice& on = units_[held.unit];
  for (const uint32_t fit : fits) note(Kind::failed, &on, on.node, fit, held.attempt, text);
  const bool broken = failures_.failed(held.unit, fits, is_last(held.unit));
  on.rest_until = now_ + kRestSeconds * failures_.in_a_row(held.unit);
  for (const uint32_t bundle : held.bundles) {
    if (left(policy_.bundle(bundle).fits).empty()) continue;
    parts_[bundle].alone = true;
    // A single failure may be chance, and fits that share work are faster as one bundle. After two failures, each fit
    // is tried alone, so that a bad fit does not fail the others.
    if (++parts_[bundle].failures >= 2) take_apart(bundle);
  }
  if (broken && !on.retired) {
    // A probe protects the last unit: without it, the run cannot continue, and the next run would end in the same way.
    if (is_last(held.unit)) on.probe = probe_for(held.unit);
    if (on.probe) {
      policy_.retire(held.unit);  // no other work while the probe runs
    } else {
      quarantine(held.unit, fmt::format("different candidates in a row failed on it, the last one with: {}", text));
    }
  }
  for (const uint32_t fit : fits) {
    const uint32_t bundle = bundle_of_[fit];
    if (!failures_.too_often(fit) || is_held(bundle) || left(policy_.bundle(bundle).fits).size() > 1) continue;
    blocklist_[fit] = fmt::format("failed {} times, last on {}: {}", Failures::kMost, place(on), text);
    policy_.finished(bundle);
  }
}

void Coordinator::quarantine(uint32_t unit, const std::string& text) {
  retire(unit, text);
  for (const uint32_t fit : failures_.reinstate(unit))
    if (blocklist_.erase(fit) > 0 && parts_[bundle_of_[fit]].may_wait()) policy_.wait(bundle_of_[fit]);
}

// Returns the cheapest fit that a unit of the same class has completed. Excludes refits, because the model of the probe
// would replace the one that counts.
std::optional<uint32_t> Coordinator::probe_for(uint32_t unit) const {
  std::optional<uint32_t> found;
  double least = 0;
  for (uint32_t fit = 0; fit < work_.n_fits; ++fit) {
    const auto& one = done_[fit];
    if (!one || !journal::has_result(one->status) || failures_.has_failed(fit)) continue;
    const scheduler::Bundle& bundle = policy_.bundle(bundle_of_[fit]);
    if (one->device_class != device(units_[unit]).device_class || bundle.bytes > device(units_[unit]).budget_bytes)
      continue;
    const double cost = bundle.cost / static_cast<double>(bundle.fits.size());
    if (found && cost >= least) continue;
    found = fit;
    least = cost;
  }
  return found;
}

Attempt Coordinator::probe_attempt(uint32_t fit) const {
  Attempt attempt = attempt_at({bundle_of_[fit]});
  attempt.fits = {fit};
  const auto own = std::find(attempt.done_fits.begin(), attempt.done_fits.end(), fit);
  attempt.done_notes.erase(attempt.done_notes.begin() + (own - attempt.done_fits.begin()));
  attempt.done_fits.erase(own);
  return attempt;
}

void Coordinator::end_probe(const Lease& held, const LeaseEnd& end) {
  if (units_[held.unit].retired) return;
  policy_.readmit(held.unit);
  placement_changed_ = true;
  if (ending_ || end.status == MK_OK || end.status == MK_CANCELLED) return;
  last_error_ = {end.status, end.text};
  quarantine(held.unit,
             fmt::format("it failed on fit {}, which its class can do, with: {}", held.fits.front(), end.text));
}

// Splits a bundle into its fits and releases them in order, because a fit without the notes of its predecessors may
// give a different result than in an undisturbed run.
void Coordinator::take_apart(uint32_t bundle) {
  const std::vector<uint32_t> open = left(policy_.bundle(bundle).fits);
  if (open.size() < 2 || is_held(bundle)) return;
  const std::vector<uint32_t> bundles = policy_.take_apart(bundle, open);
  for (size_t k = 0; k < open.size(); ++k) {
    parts_.resize(std::max<size_t>(parts_.size(), bundles[k] + 1));
    const std::optional<uint32_t> next = k + 1 < open.size() ? std::optional(bundles[k + 1]) : std::nullopt;
    parts_[bundles[k]] = {parts_[bundle].origin, parts_[bundle].failures, true, "", next, k > 0};
    bundle_of_[open[k]] = bundles[k];
  }
  policy_.wait(bundles.front());
}

bool Coordinator::release_next(uint32_t bundle) {
  bool released = false;
  for (uint32_t at = bundle; !parts_[at].held_back && parts_[at].next;) {
    at = *parts_[at].next;
    if (!parts_[at].held_back) break;
    parts_[at].held_back = false;
    const uint32_t fit = policy_.bundle(at).fits.front();
    if (done_[fit]) continue;  // a lease that had been given up has completed it
    if (!is_over(fit) && blocklist_.count(fit) == 0) policy_.wait(at);
    released = placement_changed_ = true;
    break;
  }
  return released;
}

void Coordinator::hang(uint64_t id, double quiet_s) {
  Lease& held = leases_.at(id);
  double predicted = 0;
  for (const uint32_t bundle : held.bundles) predicted += policy_.predicted_seconds(bundle, held.unit);
  if (quiet_s <= std::max(limits_.hang_s, kLongerThanPredicted * predicted)) return;
  RunDevice& on = units_[held.unit];
  const std::vector<uint32_t> open = left(held.fits);
  const std::string text = fmt::format("it gave no sign of life for {:.0f} s", quiet_s);
  last_error_ = {MK_DEVICE_ERROR, fmt::format("{}: {}", place(on), text)};
  nodes_[on.node].cancel.insert(id);
  retire(held.unit, text);
  on.orphan.reset();
  if (held.open) {
    close(held, 0);
    if (!open.empty()) count_failures(held, open, text);
  }
  placement_changed_ = true;
}

void Coordinator::retire(uint32_t index, const std::string& text) {
  units_[index].retired = true;
  policy_.retire(index);
  placement_changed_ = true;
  note(Kind::retired, &units_[index], units_[index].node, -1, 0, text);
}

bool Coordinator::is_last(uint32_t index) const {
  for (uint32_t other = 0; other < units_.size(); ++other)
    if (other != index && !units_[other].retired && !nodes_[units_[other].node].lost) return false;
  return true;
}

// Picks the next work of a unit on which work has failed. Other work shows whether the fit or the unit is faulty.
std::optional<scheduler::Pick> Coordinator::choose_after_failure(uint32_t index) {
  const auto none = [&](uint32_t bundle, const auto& failed) {
    const std::vector<uint32_t>& fits = policy_.bundle(bundle).fits;
    return std::none_of(fits.begin(), fits.end(), failed);
  };
  const auto fresh = [&](uint32_t bundle) {
    return none(bundle, [&](uint32_t fit) { return failures_.has_failed(fit); });
  };
  const auto sure = [&](uint32_t bundle) {
    return failures_.has_succeeded(policy_.bundle(bundle).fits.front()) && fresh(bundle);
  };
  const auto not_here = [&](uint32_t bundle) {
    return none(bundle, [&](uint32_t fit) { return failures_.has_failed_on(fit, index); });
  };
  if (auto test = policy_.test(index, sure, now_)) return test;
  if (auto test = policy_.test(index, fresh, now_)) return test;
  if (auto test = policy_.test(index, not_here, now_)) return test;
  return policy_.next(index, now_);
}

// Gives up each fit that failed too often, once a device on which it failed has worked again or no other work is left.
void Coordinator::give_up_blocklisted(Out& out) {
  const bool last = !is_work_left();
  if (last) {  // fits that wait for failed fits may show whether the device is faulty
    bool released = false;
    for (const auto& [fit, text] : blocklist_) released = release_next(bundle_of_[fit]) || released;
    if (released) return;
  }
  if (last && work_.decides && probe_before_giving_up()) return;
  std::set<uint32_t> candidates;
  for (const auto& [fit, text] : blocklist_) candidates.insert(failures_.candidate(fit));
  if (last && candidates.size() > 1 && !failures_.anything_succeeded()) {
    return end(Stop{last_error_.code, fmt::format("nothing that was tried has worked on any device; the last error: {}",
                                                  last_error_.reason)},
               out);
  }
  for (auto at = blocklist_.begin(); at != blocklist_.end();) {
    const auto [fit, text] = *at;
    if (!last && !failures_.proven(fit)) {
      ++at;
      continue;
    }
    at = blocklist_.erase(at);
    give_up(fit, text);
  }
}

// A failed fit decides what is computed next, so it must not be the fault of a device. Returns whether a device is
// being tested.
bool Coordinator::probe_before_giving_up() {
  bool tests = false;
  for (uint32_t unit = 0; unit < units_.size(); ++unit) {
    RunDevice& one = units_[unit];
    if (one.retired || nodes_[one.node].lost || failures_.in_a_row(unit) == 0) continue;
    if (!one.lease && !one.probe) {
      one.probe = probe_for(unit);
      if (one.probe) policy_.retire(unit);  // no other work until the probe has ended
    }
    tests = tests || one.lease || one.probe;
  }
  return tests;
}

bool Coordinator::is_work_left() const {
  for (uint32_t fit = 0; fit < slots(); ++fit)
    if (!done_[fit] && blocklist_.count(fit) == 0 && parts_[bundle_of_[fit]].may_wait()) return true;
  return false;
}

void Coordinator::give_up(uint32_t fit, const std::string& text) {
  journal::FitRecord record;
  record.fit = fit;
  record.status = journal::FitStatus::failed;
  record.note = text;
  record.bundle = bundle_of_[fit];
  record.attempt = ++attempts_[fit];  // identifies the record
  record.start_s = record.end_s = now_;
  if (is_refit(fit)) record.refit = refit_of_[fit - work_.n_fits];
  given_up_.insert(fit);
  count(record);
  if (left(policy_.bundle(bundle_of_[fit]).fits).empty()) policy_.finished(bundle_of_[fit]);
  release_next(bundle_of_[fit]);
  notify(observers_, &Observer::given_up, record);
  notify(observers_, &Observer::fit_done, record);
}

uint64_t Coordinator::largest_budget(bool lost) const {
  uint64_t largest = 0;
  for (const RunDevice& one : units_)
    if (!one.retired && nodes_[one.node].lost == lost) largest = std::max(largest, device(one).budget_bytes);
  return largest;
}

// Throws if no remaining work fits on any device, because the setup is wrong. Otherwise, the run does what fits.
void Coordinator::check_placeable() const {
  if (n_done_ == slots()) return;
  if (units_.empty()) throw Error(MK_DEVICE_ERROR, "no node has a device for this run; see `mokume devices`");
  const std::vector<uint32_t> unplaceable = policy_.unplaceable();
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < policy_.bundles(); ++i) {
    const bool may_fit = !parts_[i].undecided || policy_.bundle(i).bytes <= largest_budget(false);
    waiting += !left(policy_.bundle(i).fits).empty() && !parts_[i].held_back && may_fit ? 1 : 0;
  }
  if (unplaceable.empty() || unplaceable.size() < waiting) return;
  uint64_t least = UINT64_MAX, largest = 0;
  for (const uint32_t i : unplaceable) least = std::min(least, policy_.bundle(i).bytes);
  for (const RunDevice& one : units_) largest = std::max(largest, device(one).budget_bytes);
  throw Error(MK_DEVICE_ERROR, fmt::format("every remaining fit needs at least {} of memory, but the largest budget "
                                           "of a device is {}; raise devices.memory or use a device with more",
                                           base::human_bytes(least), base::human_bytes(largest)));
}

void Coordinator::give_up_unplaceable(Out& out) {
  for (const uint32_t bundle : policy_.unplaceable()) {
    const uint64_t needed = policy_.bundle(bundle).bytes;
    const std::vector<uint32_t> open = left(policy_.bundle(bundle).fits);
    if (open.empty() || needed <= largest_budget(false)) continue;  // a unit that can hold it will become free
    if (needed <= largest_budget(true)) {
      // The fit is not at fault: another run with that node can complete it.
      return end(Stop{MK_CANCELLED, fmt::format("fit {} needs {} of memory, and the node that has it was lost",
                                                open.front(), base::human_bytes(needed))},
                 out);
    }
    const std::string& said = parts_[bundle].too_large;
    const std::string text = fmt::format(
        "{}, and the largest budget of a working device is {}; raise devices.memory or use a device with "
        "more",
        said.empty() ? fmt::format("it needs {} of memory", base::human_bytes(needed)) : said,
        base::human_bytes(largest_budget(false)));
    for (const uint32_t fit : open) give_up(fit, text);
  }
}

void Coordinator::stop_without_devices(Out& out) {
  if (n_done_ == slots()) return;
  bool lost = false;
  for (const RunDevice& one : units_) {
    if (one.retired) continue;
    if (!nodes_[one.node].lost) return;
    lost = true;
  }
  bool all_over = true;  // every fit is done or about to reach the disk
  for (uint32_t fit = 0; fit < slots(); ++fit) all_over = all_over && is_over(fit);
  if (all_over) return;
  if (lost) return end(Stop{MK_CANCELLED, "every node with a working device was lost"}, out);
  end(Stop{last_error_.code, fmt::format("no working device is left, and some fits are not done; the last error: {}",
                                         last_error_.reason)},
      out);
}

bool Coordinator::is_held(uint32_t bundle) const {
  return std::any_of(units_.begin(), units_.end(), [&](const RunDevice& one) {
    if (!one.lease) return false;
    const std::vector<uint32_t>& bundles = leases_.at(*one.lease).bundles;
    return std::find(bundles.begin(), bundles.end(), bundle) != bundles.end();
  });
}

std::string Coordinator::place(const RunDevice& unit) const {
  return nodes_.size() > 1 ? fmt::format("{} of node {}", device(unit).id, unit.node) : device(unit).id;
}

void Coordinator::note(Kind kind, const RunDevice* unit, uint32_t node, int64_t fit, uint32_t attempt,
                       const std::string& text) const {
  const journal::EventRecord event{now_, kind, node, unit != nullptr ? device(*unit).id : "", fit, attempt, text};
  notify(observers_, &Observer::event, event);
}

}  // namespace mokume::cluster
