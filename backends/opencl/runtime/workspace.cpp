#include "runtime/workspace.hpp"

#include <algorithm>

namespace mokume::opencl {

uint64_t MemberSpace::room_for(size_t slot, uint64_t bytes, uint64_t there) {
  constexpr uint64_t kPage = 4096;  // no two members write to the same page
  each[slot] = std::max(each[slot], (bytes + kPage - 1) / kPage * kPage);
  const uint64_t all = each[slot] * members;
  if (all > kMostBytes) {
    too_large = true;
    return bytes;
  }
  if (all > there) grew = true;
  return all;
}

mk_buffer& Workspaces::get(mk_device& device, size_t slot, uint64_t bytes) {
  mk_buffer& space = slots_.at(slot);
  if (members != nullptr) bytes = members->room_for(slot, bytes, space.bytes);
  if (space.bytes < bytes) {
    space = mk_buffer{};  // the driver keeps the old memory for pending commands
    space = create_buffer(device, bytes);
    ++changes_;
  }
  return space;
}

int64_t Workspaces::offset(const MemberSpace& space, cl_mem memory, size_t member) const {
  for (size_t slot = 0; slot < kWorkspaces; ++slot)
    if (memory != nullptr && memory == slots_[slot].memory.get())
      return static_cast<int64_t>(member * space.each[slot]);
  return 0;
}

}  // namespace mokume::opencl
