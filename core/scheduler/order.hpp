// Which bundle goes next: the longest that fits. Longest first keeps the end of a run short: what is left for the last
// devices is small (Graham 1969: at most 4/3 - 1/(3m) of the optimum on m equal devices).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace mokume::scheduler {

struct Load {
  double cost = 0;     // any unit that all loads share; one that is not a number counts as the longest
  uint64_t bytes = 0;  // what the device must hold at least
};

// Indices by cost, longest first; equal ones by index. A pure function.
std::vector<uint32_t> longest_first(const std::vector<Load>& loads);

// Indices of what none of the budgets holds.
std::vector<uint32_t> unplaceable(const std::vector<Load>& loads, const std::vector<uint64_t>& budgets);

// The loads that wait for a device. Used by one thread.
class Queue {
 public:
  explicit Queue(std::vector<Load> loads);  // nothing waits yet

  void put(uint32_t load);                        // it waits (again)
  std::optional<uint32_t> take(uint64_t budget);  // the longest that fits; no value if none does
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }

 private:
  std::vector<Load> loads_;
  std::vector<uint32_t> order_;     // place -> load
  std::vector<uint32_t> place_of_;  // load -> place
  std::set<uint32_t> waiting_;      // places
};

}  // namespace mokume::scheduler
