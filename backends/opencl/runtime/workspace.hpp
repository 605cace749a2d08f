// Device memory that the ops of a queue share, because they run in order. Its contents do not outlive an op.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/buffer.hpp"

namespace mokume::opencl {

inline constexpr size_t kWorkspaces = 5;  // the slots of a queue
inline constexpr size_t kNotKept = 4;     // the slot that mk_queue::kept() uses when it has no room

// Memory for the members of a group: in each slot, consecutive parts of `each` bytes, one per member.
struct MemberSpace {
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // the limit for a slot

  uint64_t members;
  std::array<uint64_t, kWorkspaces> each{};
  bool grew = false, too_large = false;

  // Returns the required size of a slot, now `there` bytes large, if each member requests `bytes`.
  uint64_t room_for(size_t slot, uint64_t bytes, uint64_t there);
};

class Workspaces {
 public:
  // Returns a buffer of at least `bytes`; while `members` is set, the buffer has room for all members.
  mk_buffer& get(mk_device& device, size_t slot, uint64_t bytes);
  // Returns the distance in bytes of a member's part from the first member's; 0 for memory that is not a workspace.
  int64_t offset(const MemberSpace& space, cl_mem memory, size_t member) const;

  MemberSpace* members = nullptr;  // set while the ops of a group are recorded

 private:
  std::array<mk_buffer, kWorkspaces> slots_;
};

}  // namespace mokume::opencl
