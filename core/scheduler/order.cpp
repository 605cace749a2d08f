#include "scheduler/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace mokume::scheduler {

std::vector<uint32_t> longest_first(const std::vector<Load>& loads) {
  std::vector<uint32_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto cost = [&](uint32_t i) {
    return std::isnan(loads[i].cost) ? std::numeric_limits<double>::infinity() : loads[i].cost;
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return cost(a) > cost(b); });
  return order;
}

std::vector<uint32_t> unplaceable(const std::vector<Load>& loads, const std::vector<uint64_t>& budgets) {
  const bool any = !budgets.empty();
  const uint64_t largest = any ? *std::max_element(budgets.begin(), budgets.end()) : 0;
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < loads.size(); ++i) {
    if (!any || loads[i].bytes > largest) found.push_back(i);
  }
  return found;
}

Queue::Queue(std::vector<Load> loads)
    : loads_(std::move(loads)), order_(longest_first(loads_)), place_of_(loads_.size()) {
  for (uint32_t place = 0; place < order_.size(); ++place) place_of_[order_[place]] = place;
}

void Queue::put(uint32_t load) { waiting_.insert(place_of_.at(load)); }

std::optional<uint32_t> Queue::take(uint64_t budget) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](uint32_t place) { return loads_[order_[place]].bytes <= budget; });
  if (found == waiting_.end()) return std::nullopt;
  const uint32_t load = order_[*found];
  waiting_.erase(found);
  return load;
}

}  // namespace mokume::scheduler
