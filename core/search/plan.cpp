#include "search/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"
#include "sdk/portable.hpp"

namespace mokume::search {
namespace {

[[noreturn]] void fail_too_many() {
  throw Error(MK_INVALID_ARGUMENT, "[search.params] makes more than 10 million candidates; shorten a list");
}

void check_lists(const std::vector<Space>& spaces) {
  for (const Space& space : spaces) {
    if (space.kind != Space::Kind::list)
      throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' is a distribution; a grid needs a list");
    if (space.values.empty())
      throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' has an empty list of values");
  }
}

int64_t draw_integer(const Space& space, const sdk::Random& random) {
  const auto low = static_cast<int64_t>(space.low), high = static_cast<int64_t>(space.high);
  if (high < low) throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' has its ends in the wrong order");
  const auto step = std::max<uint64_t>(1, static_cast<uint64_t>(space.step));
  const uint64_t count = (static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / step + 1;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + random.below(0, count) * step);
}

// Draws a real number and rounds it. Each integer owns the real numbers that round to it.
int64_t draw_logarithm(const Space& space, const sdk::Random& random) {
  if (space.low < 1 || space.high < space.low)
    throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' needs ends from 1 on, in ascending order");
  const double low = sdk::portable::log(space.low - 0.5), high = sdk::portable::log(space.high + 0.5);
  const double value = std::round(sdk::portable::exp(low + random.uniform(0) * (high - low)));
  return static_cast<int64_t>(std::clamp(value, space.low, space.high));
}

double draw_real(const Space& space, const sdk::Random& random) {
  if (space.step <= 0) return space.low + random.uniform(0) * (space.high - space.low);
  const auto steps = static_cast<uint64_t>((space.high - space.low) / space.step + 1e-6);  // 0.3 is 3 steps of 0.1
  const double value = space.low + static_cast<double>(random.below(0, steps + 1)) * space.step;
  return std::clamp(std::stod(fmt::format("{:.15g}", value)), space.low, space.high);  // 0.3, not 0.30000000000000004
}

Value draw(const Space& space, const sdk::Random& random) {
  switch (space.kind) {
    case Space::Kind::real_uniform:
      return draw_real(space, random);
    case Space::Kind::log10_uniform:
      return sdk::portable::pow(10.0, space.low + random.uniform(0) * (space.high - space.low));
    case Space::Kind::integer_uniform:
      return draw_integer(space, random);
    case Space::Kind::integer_log:
      return draw_logarithm(space, random);
    case Space::Kind::list:
      break;
  }
  if (space.values.empty())
    throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' has an empty list of values");
  return space.values[random.below(0, space.values.size())];
}

// `active` tells which of the parameters before this one count.
bool counts(const Space& space, const std::vector<Value>& candidate, const std::vector<bool>& active) {
  return std::all_of(space.when.begin(), space.when.end(), [&](const Condition& condition) {
    return active[condition.index] && std::find(condition.values.begin(), condition.values.end(),
                                                candidate[condition.index]) != condition.values.end();
  });
}

// Goes through the candidates of a grid, in which a parameter that does not count is not varied.
class GridWalk {
 public:
  explicit GridWalk(const std::vector<Space>& spaces) : spaces_(spaces) {}

  // Returns the number of candidates, or a number above the limit.
  uint64_t count() {
    size_t fixed = spaces_.size();  // from here on, no parameter depends on another one
    while (fixed > 0 && spaces_[fixed - 1].when.empty()) --fixed;
    uint64_t each = 1;
    for (size_t p = fixed; p < spaces_.size(); ++p) {
      if (spaces_[p].values.size() > kMaxCandidates / each) return kMaxCandidates + 1;
      each *= spaces_[p].values.size();
    }
    uint64_t all = 0;
    walk(fixed, [&] {
      all += each;
      return all <= kMaxCandidates;
    });
    return all;
  }

  std::vector<std::vector<Value>> candidates() {
    std::vector<std::vector<Value>> all;
    all.reserve(count());
    walk(spaces_.size(), [&] {
      all.push_back(begun_);
      return true;
    });
    return all;
  }

 private:
  // Calls body() for every choice of the first `depth` parameters, which is then in begun_, until body() returns false.
  template <class Body>
  bool walk(size_t depth, const Body& body) {
    if (begun_.size() == depth) return body();
    const Space& space = spaces_[begun_.size()];
    active_.push_back(counts(space, begun_, active_));
    const bool varies = active_.back();
    bool proceeds = true;
    for (const Value& value : varies ? std::span(space.values) : std::span(&space.otherwise, 1)) {
      begun_.push_back(value);
      proceeds = proceeds && walk(depth, body);
      begun_.pop_back();
    }
    active_.pop_back();
    return proceeds;
  }

  const std::vector<Space>& spaces_;
  std::vector<Value> begun_;
  std::vector<bool> active_;
};

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return base::shortest(*real);
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

std::vector<std::vector<Value>> grid_candidates(const std::vector<Space>& spaces) {
  check_lists(spaces);
  GridWalk walk(spaces);
  if (walk.count() > kMaxCandidates) fail_too_many();
  return walk.candidates();
}

std::vector<bool> counting(const std::vector<Space>& spaces, const std::vector<Value>& candidate) {
  std::vector<bool> active;
  for (const Space& space : spaces) active.push_back(counts(space, candidate, active));
  return active;
}

void apply_conditions(const std::vector<Space>& spaces, std::vector<Value>& candidate) {
  const std::vector<bool> active = counting(spaces, candidate);
  for (size_t p = 0; p < spaces.size(); ++p)
    if (!active[p]) candidate[p] = spaces[p].otherwise;
}

std::vector<std::vector<Value>> list_candidates(const std::vector<Space>& spaces) {
  std::vector<std::vector<Value>> candidates(spaces.empty() ? 0 : spaces.front().values.size());
  for (const Space& space : spaces) {
    if (space.kind != Space::Kind::list)
      throw Error(MK_INVALID_ARGUMENT,
                  "parameter '" + space.name + "' is a distribution; method \"list\" needs a list");
    if (space.values.size() != candidates.size())
      throw Error(MK_INVALID_ARGUMENT, "parameter '" + space.name + "' lists " + std::to_string(space.values.size()) +
                                           " values and '" + spaces.front().name + "' " +
                                           std::to_string(candidates.size()) +
                                           ": method \"list\" takes one value of each per candidate");
    for (size_t c = 0; c < candidates.size(); ++c) candidates[c].push_back(space.values[c]);
  }
  return candidates;
}

std::vector<std::vector<Value>> random_candidates(const std::vector<Space>& spaces, uint32_t count, uint64_t seed) {
  if (count > kMaxCandidates) fail_too_many();
  std::vector<std::vector<Value>> candidates(count);
  for (uint32_t c = 0; c < count; ++c) {
    candidates[c].reserve(spaces.size());
    for (uint32_t p = 0; p < spaces.size(); ++p)
      candidates[c].push_back(draw(spaces[p], sdk::Random(seed, sdk::Purpose::search, c, p)));
  }
  return candidates;
}

}  // namespace mokume::search
