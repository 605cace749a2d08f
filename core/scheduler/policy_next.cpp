// Implements Policy::next() and its criteria.
#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/policy.hpp"

namespace mokume::scheduler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Bundles are given together up to this share of the remaining work of all units.
constexpr double kTogether = 0.25;
// A slower unit takes only work that it should finish within this share of the remaining time, because predictions are
// off by up to a quarter.
constexpr double kPatience = 0.75;
// If at most this many bundles are waiting, they are reordered after every observation.
constexpr size_t kFew = 1024;
// A copy must finish earlier by at least this factor.
constexpr double kClearly = 1.2;

}  // namespace

std::optional<Pick> Policy::next(uint32_t unit, double now) {
  const UnitState& asks = units_[unit];
  if (asks.retired || asks.busy) return std::nullopt;
  watch(now);
  // With thousands of waiting bundles, another observation changes the order very little, and reordering takes as long
  // as handing out hundreds of bundles.
  const size_t wait = order_.size() <= kFew ? 0 : order_.size() / 16;
  if ((estimated_ != costs_.version() || scores_changed_) && ++asked_ > wait) estimate();
  const Outlook ahead = outlook(now);
  std::optional<Pick> chosen;
  for (const auto& [rank, i] : order_) {
    if (!fits(bundles_[i], asks) || left_to_others(i, asks) || !better_here(i, asks, ahead)) continue;
    chosen = merged(i, asks, ahead);
    break;
  }
  if (!chosen) chosen = backup(unit, now, ahead);
  if (chosen) give(unit, *chosen, now);
  return chosen;
}

std::optional<Pick> Policy::test(uint32_t unit, const std::function<bool(uint32_t bundle)>& suits, double now) {
  if (units_[unit].retired || units_[unit].busy) return std::nullopt;
  for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
    if (!fits(bundles_[at->second], units_[unit]) || !suits(at->second)) continue;
    const Pick chosen{{at->second}, false};
    give(unit, chosen, now);
    return chosen;
  }
  return std::nullopt;
}

void Policy::watch(double now) {
  if (!costs_.knows_seconds()) return;
  for (const UnitState& unit : units_) {
    if (!unit.busy || unit.retired) continue;
    double work = 0;
    for (const uint32_t i : unit.holds) work += states_[i].work;
    if ((now - unit.since) * costs_.speed(unit.device_class) <= work) continue;
    std::vector<uint32_t> fits;
    for (const uint32_t i : unit.holds) fits.insert(fits.end(), bundles_[i].fits.begin(), bundles_[i].fits.end());
    costs_.running(unit.device_class, fits, now - unit.since);
  }
}

void Policy::give(uint32_t unit, const Pick& pick, double now) {
  UnitState& takes = units_[unit];
  for (const uint32_t i : pick.bundles) {
    remove(i);
    ++states_[i].holders;
    ++states_[i].given;
    states_[i].given_as = costs_.knows_seconds() ? states_[i].work : 0;
    tried(i);
  }
  takes.holds = pick.bundles;
  takes.busy = true;
  takes.told_superfluous = false;
  takes.since = now;
}

double Policy::rest_of(const UnitState& unit, double now) const {
  double work = 0;
  for (const uint32_t i : unit.holds) work += states_[i].work;
  const double predicted = work / costs_.speed(unit.device_class);
  if (!costs_.knows_seconds()) return predicted;
  // Expects overdue work to take as long again as it is overdue: the prediction was wrong, or the device hangs.
  return std::abs(predicted - (now - unit.since));
}

Policy::Outlook Policy::outlook(double now) const {
  Outlook found;
  found.first.assign(kinds_.size(), kNever);
  std::vector<std::pair<double, double>> busy;  // pairs of remaining seconds and speed
  double work = waiting_work_, speeds = 0;
  for (const UnitState& unit : units_) {
    if (unit.retired) continue;
    const double left = unit.busy ? rest_of(unit, now) : 0;
    // Nothing waits for a spare unit.
    if (!unit.unit.spare) found.first[unit.kind] = std::min(found.first[unit.kind], left);
    const double speed = costs_.speed(unit.device_class);
    busy.emplace_back(left, speed);
    work += left * speed;
    speeds += speed;
    ++found.units;
  }
  // Units that are busy for longer than this time do not take part in the rest.
  for (int round = 0; round < 4; ++round) {
    found.rest = speeds > 0 ? work / speeds : 0;
    const size_t before = busy.size();
    std::erase_if(busy, [&](const auto& unit) {
      if (unit.first <= found.rest) return false;
      work -= unit.first * unit.second;
      speeds -= unit.second;
      return true;
    });
    if (busy.size() == before) break;
  }
  return found;
}

bool Policy::sooner_elsewhere(double work, uint64_t bytes, const UnitState& unit, const Outlook& ahead) const {
  const double speed = costs_.speed(unit.device_class);
  for (uint32_t k = 0; k < kinds_.size(); ++k) {
    const double other = costs_.speed(kinds_[k].device_class);
    if (other > speed && kinds_[k].budget >= bytes && ahead.first[k] + work / other < work / speed) return true;
  }
  return false;
}

bool Policy::left_to_others(uint32_t bundle, const UnitState& unit) const {
  return unit.unit.spare && std::any_of(units_.begin(), units_.end(), [&](const UnitState& other) {
           return !other.unit.spare && !other.retired && fits(bundles_[bundle], other);
         });
}

bool Policy::better_here(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const {
  const double work = states_[bundle].work;
  return work <= kPatience * ahead.rest * costs_.speed(unit.device_class) ||
         !sooner_elsewhere(work, bundles_[bundle].bytes, unit, ahead);
}

Pick Policy::merged(uint32_t bundle, const UnitState& unit, const Outlook& ahead) const {
  Pick made{{bundle}, false};
  if (states_[bundle].alone) return made;
  const double most = ahead.units == 1 ? kNever : kTogether * ahead.rest * costs_.speed(unit.device_class);
  double work = states_[bundle].work;
  for (const uint32_t other : by_affinity_.at(bundles_[bundle].affinity)) {
    if (other == bundle || states_[other].alone || !fits(bundles_[other], unit) || left_to_others(other, unit))
      continue;
    if (work + states_[other].work > most) break;
    work += states_[other].work;
    made.bundles.push_back(other);
  }
  std::sort(made.bundles.begin(), made.bundles.end());
  return made;
}

// Copies the last bundles of the unit that gains most. The holder starts with the first bundle, so the two meet if
// there are several bundles.
std::optional<Pick> Policy::backup(uint32_t unit, double now, const Outlook& ahead) const {
  if (!costs_.knows_seconds()) return std::nullopt;
  const UnitState& idle = units_[unit];
  const double speed = costs_.speed(idle.device_class);
  double most_gained = 0;
  std::optional<Pick> chosen;
  for (const UnitState& holder : units_) {
    if (!holder.busy || &holder == &idle) continue;
    const double left = rest_of(holder, now);
    if (left <= most_gained) continue;
    const double holder_speed = costs_.speed(holder.device_class);
    Pick copy{{}, true};
    double work = 0, gained = 0;
    for (auto i = holder.holds.rbegin(); i != holder.holds.rend(); ++i) {
      if (states_[*i].done) continue;
      if (states_[*i].holders > 1 || !fits(bundles_[*i], idle) || left_to_others(*i, idle)) break;
      work += states_[*i].work;
      // The holder finishes at this time without the copied bundles, at best.
      const double kept = std::max(0.0, left - work / holder_speed);
      const double gain = left - std::max(work / speed, kept);
      if (kClearly * work / speed > left || gain <= gained) break;
      if (sooner_elsewhere(work, bundles_[*i].bytes, idle, ahead)) break;  // the faster unit is worth waiting for
      gained = gain;
      copy.bundles.push_back(*i);
    }
    if (gained <= most_gained) continue;
    most_gained = gained;
    std::reverse(copy.bundles.begin(), copy.bundles.end());
    chosen = std::move(copy);
  }
  return chosen;
}

}  // namespace mokume::scheduler
