#include "device/core_plan.hpp"

#include <algorithm>

namespace mokume::device {
namespace {

using Cores = std::vector<uint32_t>;

bool emulated(const Listed& d) { return (d.info.flags & MK_DEVICE_SOFTWARE) != 0; }

// Returns the k-th of n equal parts, or a single core if there are fewer cores than parts.
Cores cut(const Cores& cores, size_t k, size_t n) {
  if (cores.size() < n) return {cores[k % cores.size()]};
  const auto at = [&](size_t part) { return cores.begin() + static_cast<ptrdiff_t>(part * cores.size() / n); };
  return {at(k), at(k + 1)};
}

}  // namespace

bool on_cores(const mk_device_info& info) {
  return info.kind == MK_DEVICE_CPU || (info.flags & MK_DEVICE_SOFTWARE) != 0;
}

std::vector<bool> spare(const std::vector<Listed>& used) {
  const bool any_cpu =
      std::any_of(used.begin(), used.end(), [](const Listed& d) { return on_cores(d.info) && !emulated(d); });
  std::vector<bool> found;
  for (const Listed& d : used) found.push_back(any_cpu && emulated(d));
  return found;
}

std::vector<Cores> core_plan(const std::vector<Listed>& used, const Cores& cores) {
  std::vector<Cores> plan(used.size());
  const auto count = [&](const auto& kind) {
    return static_cast<size_t>(std::count_if(used.begin(), used.end(), kind));
  };
  const size_t computing = count([](const Listed& d) { return on_cores(d.info); });
  const size_t real = count([](const Listed& d) { return on_cores(d.info) && !emulated(d); });
  if (computing == 0 || cores.empty()) return plan;
  const size_t feeders = used.size() - computing;
  const size_t sharing = std::max<size_t>(1, real);
  const size_t left = std::max(std::min(sharing, cores.size()), cores.size() - std::min(feeders, cores.size()));
  // The first core also serves most interrupts, so it goes to a feeder.
  const Cores free(cores.end() - static_cast<ptrdiff_t>(left), cores.end());
  size_t next = 0;
  for (size_t d = 0; d < used.size(); ++d)
    if (on_cores(used[d].info) && !emulated(used[d])) plan[d] = cut(free, next++, real);
  for (size_t d = 0; d < used.size(); ++d) {
    if (!emulated(used[d])) continue;
    plan[d] = real == 0 ? free : Cores{free.back()};
    for (size_t other = 0; other < used.size(); ++other)
      if (!emulated(used[other]) && !plan[other].empty() && used[other].backend == used[d].backend)
        plan[d] = plan[other];
  }
  return plan;
}

}  // namespace mokume::device
