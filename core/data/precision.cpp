#include "data/precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

constexpr double kFewestSteps = 1000;  // float32 values within the range of a feature

struct Range {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();

  void add(float value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  float largest() const { return std::max(std::abs(low), std::abs(high)); }
  double step() const {
    return double{std::nextafter(largest(), std::numeric_limits<float>::infinity())} - double{largest()};
  }
  // A constant may be what rounding left of whole numbers that differ.
  bool loses_digits() const {
    return high > low ? step() * kFewestSteps > double{high} - double{low} : low == high && step() > 1;
  }
};

std::string sentence(const std::string& what, const Range& range, const std::string& cure) {
  return what + ": float32 tells values near " + base::shortest(double{range.largest()}) + " apart in steps of " +
         base::shortest(range.step()) + "; " + cure;
}

}  // namespace

void drop_exact_if_equal(Table& table) {
  const auto same = [](double exact, float x) { return exact == double{x}; };
  if (std::equal(table.exact.begin(), table.exact.end(), table.x.begin(), same)) table.exact = {};
}

std::string feature_name(const std::vector<Column>& columns, size_t j) {
  size_t next = 0;
  for (const Column& column : columns) {
    next += std::max<size_t>(1, column.levels.size());
    if (j < next) return "column " + quoted(column.name);
  }
  return "feature " + std::to_string(j + 1);
}

std::vector<std::string> lost_digits(const DataSpec& spec, const Dataset& data) {
  std::vector<std::string> found;
  const auto features = static_cast<size_t>(data.train.features);
  std::vector<Range> ranges(spec.scales() ? 0 : features);
  for (size_t at = 0; !ranges.empty() && at < data.train.x.size(); ++at)
    ranges[data.train.sparse() ? static_cast<size_t>(data.train.column[at]) : at % features].add(data.train.x[at]);
  const auto bad = std::find_if(ranges.begin(), ranges.end(), [](const Range& one) { return one.loses_digits(); });
  if (bad != ranges.end())
    found.push_back(sentence(feature_name(data.columns, static_cast<size_t>(bad - ranges.begin())), *bad,
                             "set data.standardize = \"features\", which starts from the values of the file"));
  Range targets;
  for (const float target : data.train.targets) targets.add(target);
  if (targets.loses_digits()) found.push_back(sentence("the targets", targets, "subtract a constant from them"));
  return found;
}

}  // namespace mokume::data
