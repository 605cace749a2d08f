#include "kernels.hpp"

#include <numeric>

namespace mokume::pose {
namespace {

size_t sum(const std::map<cl_uint, size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), size_t{0},
                         [](size_t all, const auto& entry) { return all + entry.second; });
}

}  // namespace

size_t Kernels::Kernel::value_bytes() const { return sum(values); }
size_t Kernels::Kernel::local_bytes() const { return sum(locals); }

Grid::Grid(const Card& card, cl_uint dimensions, const size_t* sizes, const size_t* local) {
  for (cl_uint i = 0; i < dimensions && i < 3; ++i) {
    global[i] = sizes[i];
    if (local != nullptr) group[i] = local[i];
    even = even && group[i] != 0 && global[i] % group[i] == 0;
  }
  // If the driver chooses, a group lies along the first dimension.
  if (local == nullptr)
    while (group[0] * 2 <= card.work_group && global[0] % (group[0] * 2) == 0) group[0] *= 2;
}

cl_int refusal(const Card& card, const Grid& grid, size_t local_bytes, size_t parameter_bytes) {
  if (!grid.even) return CL_INVALID_WORK_GROUP_SIZE;
  size_t items = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (grid.group[i] > card.work_item_sizes[i]) return CL_INVALID_WORK_ITEM_SIZE;
    if (grid.global[i] / grid.group[i] > card.groups[i]) return card.groups_error;
    items *= grid.group[i];
  }
  if (items > card.work_group) return CL_INVALID_WORK_GROUP_SIZE;
  if (local_bytes > card.local_bytes) return card.local_error;
  return parameter_bytes > card.parameter_bytes ? card.parameter_error : CL_SUCCESS;
}

}  // namespace mokume::pose
