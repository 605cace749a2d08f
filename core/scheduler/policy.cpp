#include "scheduler/policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mokume::scheduler {

Policy::Policy(Workload workload, std::vector<Unit> units) : pieces_(std::move(workload.pieces)) {
  for (Piece& piece : pieces_)
    if (std::isnan(piece.cost)) piece.cost = std::numeric_limits<double>::infinity();
  states_.resize(pieces_.size());
  for (Unit& unit : units) units_.push_back({std::move(unit), {}, false, false, false, 0});
}

void Policy::wait(uint32_t piece) {
  states_[piece].waiting = true;
  states_[piece].done = false;
}

std::optional<Assignment> Policy::next(uint32_t unit, double now) {
  UnitState& asks = units_[unit];
  if (asks.retired || asks.busy) return std::nullopt;
  std::optional<uint32_t> longest;
  for (uint32_t i = 0; i < pieces_.size(); ++i)
    if (states_[i].waiting && fits(pieces_[i], asks) && (!longest || pieces_[i].cost > pieces_[*longest].cost))
      longest = i;
  if (!longest) return std::nullopt;
  states_[*longest].waiting = false;
  ++states_[*longest].holders;
  asks.holds = {*longest};
  asks.busy = true;
  asks.told_superfluous = false;
  asks.since = now;
  return Assignment{asks.holds, false};
}

void Policy::ended(uint32_t unit, const std::vector<uint32_t>& done, double, double) {
  UnitState& idle = units_[unit];
  for (const uint32_t i : done) finished(i);
  for (const uint32_t i : idle.holds) {
    State& state = states_[i];
    --state.holders;
    if (!state.done && state.holders == 0) state.waiting = true;
  }
  idle.holds.clear();
  idle.busy = false;
}

void Policy::finished(uint32_t piece) {
  states_[piece].done = true;
  states_[piece].waiting = false;
}

std::vector<uint32_t> Policy::superfluous() {
  std::vector<uint32_t> found;
  for (uint32_t u = 0; u < units_.size(); ++u) {
    UnitState& unit = units_[u];
    if (!unit.busy || unit.told_superfluous) continue;
    if (std::all_of(unit.holds.begin(), unit.holds.end(), [&](uint32_t i) { return states_[i].done; })) {
      unit.told_superfluous = true;
      found.push_back(u);
    }
  }
  return found;
}

void Policy::retire(uint32_t unit) { units_[unit].retired = true; }
void Policy::readmit(uint32_t unit) { units_[unit].retired = false; }

void Policy::needs_more_than(uint32_t piece, uint64_t bytes) {
  pieces_[piece].bytes = std::max(pieces_[piece].bytes, bytes + 1);
}

std::vector<uint32_t> Policy::unplaceable() const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < pieces_.size(); ++i)
    if (states_[i].waiting && std::none_of(units_.begin(), units_.end(), [&](const UnitState& unit) {
          return !unit.retired && fits(pieces_[i], unit);
        }))
      found.push_back(i);
  return found;
}

std::vector<uint32_t> Policy::take_apart(uint32_t piece, const std::vector<uint32_t>& fits) {
  const Piece whole = pieces_[piece];
  finished(piece);
  std::vector<uint32_t> parts;
  for (const uint32_t fit : fits) {
    parts.push_back(pieces());
    pieces_.push_back({{fit}, whole.cost / static_cast<double>(whole.fits.size()), whole.bytes, whole.affinity});
    states_.push_back({true, false, 0});
  }
  return parts;
}

double Policy::predicted_seconds(uint32_t, uint32_t) const { return 0; }

}  // namespace mokume::scheduler
