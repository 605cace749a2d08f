// Device memory for the ops of a queue. Its contents do not outlive the op: ops on one queue run in order, so they
// share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/buffer.hpp"

namespace mokume::opencl {

inline constexpr size_t kWorkspaces = 5;  // the slots of a queue
inline constexpr size_t kNotKept = 4;     // the slot for what mk_queue::kept() has no room for

// Room for the members of a group: each member has `each` bytes of each slot, one after the other.
struct MemberSpace {
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of one slot

  uint64_t members;
  std::array<uint64_t, kWorkspaces> each{};
  bool grew = false, too_large = false;

  // How large the slot, which has `there` bytes, must be where a member asks for `bytes`.
  uint64_t room_for(size_t slot, uint64_t bytes, uint64_t there);
};

class Workspaces {
 public:
  // At least `bytes` large; while `members` is set, with room for all of them.
  mk_buffer& get(mk_device& device, size_t slot, uint64_t bytes);
  // How far from the first member's room a member's begins, in bytes; 0 in memory that is no workspace.
  int64_t offset(const MemberSpace& space, cl_mem memory, size_t member) const;

  MemberSpace* members = nullptr;  // set while the ops of a group are recorded

 private:
  std::array<mk_buffer, kWorkspaces> slots_;
};

}  // namespace mokume::opencl
