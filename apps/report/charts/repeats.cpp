#include "report/charts/repeats.hpp"

#include <algorithm>
#include <set>

namespace mokume::report {
namespace {

using results::Step;

constexpr size_t kLongestGroup = 64;

// Finds the repeats that begin at a step.
class Repeats {
 public:
  explicit Repeats(const std::vector<Step>& steps) : steps_(steps), last_reader_(steps.size()) {
    for (size_t k = 0; k < steps.size(); ++k) {
      last_reader_[k] = k;
      for (const uint32_t input : steps[k].inputs) last_reader_[input] = k;
    }
  }

  struct Group {
    size_t length = 1, times = 1;
    size_t saved() const { return length * (times - 1); }
  };

  // Returns the group whose repeats save the most rows.
  Group at(size_t first) const {
    Group best;
    if (first >= steps_.size()) return best;
    for (size_t length = 1; length <= std::min(kLongestGroup, (steps_.size() - first) / 2); ++length) {
      if (!stands_alone(first, length)) continue;
      Group group{length, 1};
      while (equals_next(first, length, group.times)) ++group.times;
      while (group.times > 1 && !ends(first, group)) --group.times;
      if (group.saved() > best.saved()) best = group;
    }
    return best;
  }

 private:
  // A group reads no step before the one that precedes it.
  bool stands_alone(size_t first, size_t length) const {
    for (size_t k = first; k < first + length; ++k)
      for (const uint32_t input : steps_[k].inputs)
        if (input + 1 < first) return false;
    return first > 0;
  }

  // Returns whether the steps of a repeat equal those of the first one, and read the same ones among them.
  bool equals_next(size_t first, size_t length, size_t times) const {
    const size_t distance = length * times;
    if (first + distance + length > steps_.size()) return false;
    for (size_t k = first; k < first + length; ++k) {
      const Step &a = steps_[k], &b = steps_[k + distance];
      const auto reads_alike = [&](uint32_t of_a, uint32_t of_b) { return of_a + distance == of_b; };
      if (a.kind != b.kind || a.output != b.output || a.parameters != b.parameters ||
          !std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), reads_alike))
        return false;
    }
    return true;
  }

  // Returns whether later steps read only the last step of the last repeat.
  bool ends(size_t first, const Group& group) const {
    const size_t end = first + group.length * group.times;
    for (size_t k = first; k + 1 < end; ++k)
      if (last_reader_[k] >= end) return false;
    return true;
  }

  const std::vector<Step>& steps_;
  std::vector<size_t> last_reader_;  // the last step that reads each step, or the step itself
};

}  // namespace

std::vector<StepRow> step_rows(const std::vector<Step>& steps, size_t most) {
  const Repeats repeats(steps);
  std::vector<StepRow> rows;
  std::vector<size_t> row_of;
  while (row_of.size() < steps.size()) {
    const size_t first = row_of.size(), row = rows.size();
    Repeats::Group group = steps.size() > most ? repeats.at(first) : Repeats::Group{};
    // A layer before the first block often equals the last layer of each block. The blocks begin after it.
    if (group.times > 1 && repeats.at(first + 1).saved() >= group.saved()) group = {};
    for (size_t k = first; k < first + group.length; ++k) {
      std::set<size_t> inputs;
      row_of.push_back(rows.size());
      for (const uint32_t input : steps[k].inputs) inputs.insert(row_of[input]);
      rows.push_back({k, {inputs.begin(), inputs.end()}});
    }
    rows[row].times = group.times;
    rows[row].length = group.length;
    for (size_t k = group.length; k < group.length * group.times; ++k) row_of.push_back(row + k % group.length);
  }
  return rows;
}

}  // namespace mokume::report
