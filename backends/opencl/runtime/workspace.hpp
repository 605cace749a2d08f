// Provides device memory that the ops of a queue share, because they run in order. Its contents do not outlive an op.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/buffer.hpp"

namespace mokume::opencl {

inline constexpr size_t kWorkspaces = 6;  // number of slots of a queue
inline constexpr size_t kNotKept = 5;     // slot that mk_queue::kept() uses for results that it cannot keep

// Divides each slot among the members of a group: consecutive parts of `each` bytes, one per member.
struct MemberSpace {
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // limit for a slot

  uint64_t members;
  std::array<uint64_t, kWorkspaces> each{};
  bool grew = false, too_large = false;
  // These members serve a group of one member. `outputs` holds the buffers that the group writes, `kept_of` the buffers
  // (with their versions) of which the recording uses kept results, and `lacks_kept` is set if a result is not there.
  std::vector<const mk_buffer*> outputs{};
  std::vector<std::pair<const mk_buffer*, uint64_t>> kept_of{};
  bool lacks_kept = false;

  // Returns the size that a slot of `there` bytes needs if each member requests `bytes`. Sets `grew` or `too_large`.
  uint64_t room_for(size_t slot, uint64_t bytes, uint64_t there);
};

class Workspaces {
 public:
  // Returns a buffer of at least `bytes` bytes. While `members` is set, the buffer has room for all members.
  mk_buffer& get(mk_device& device, size_t slot, uint64_t bytes);
  // Returns the distance in bytes from the first member's part to that of `member`, or 0 for memory of another kind.
  int64_t offset(const MemberSpace& space, cl_mem memory, size_t member) const;
  // Returns how often memory has been replaced.
  uint64_t changes() const { return changes_; }

  MemberSpace* members = nullptr;  // set while the ops of a group are recorded

 private:
  std::array<mk_buffer, kWorkspaces> slots_;
  uint64_t changes_ = 0;
};

}  // namespace mokume::opencl
