// The ops of several members in fewer launches.
//
// Each op is recorded: which kernels it would launch, with which arguments. On CPUs, and where there are as many
// members as cores, a core then does all that was recorded for a member: sequence.hpp. Elsewhere members go op by op:
// where the launches of all members agree but for the values of arguments, one launch does them all. Its kernel is made
// here: it calls the op's own, with the arguments of the member that its place in the third dimension says. So no
// kernel needs to know of groups (see ITEM in common.cl), and a member's bits are those it has by itself.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/op.h"
#include "support/cl.hpp"

struct mk_queue;

namespace mokume::opencl {

class Launcher;

inline constexpr size_t kWorkspaces = 5;  // of a queue

// Local memory of a work-group: an argument, since a kernel that is called by another may declare none.
struct LocalFloats {
  int64_t count;
};

// One argument of a kernel.
struct Argument {
  enum class Type : uint8_t { memory, local, i64, i32, u32, f32 };
  Argument(LocalFloats value) : type(Type::local), bits(static_cast<uint64_t>(value.count) * sizeof(float)) {}
  Argument(cl_mem value) : type(Type::memory), bits(reinterpret_cast<uint64_t>(value)) {}
  Argument(int64_t value) : type(Type::i64), bits(static_cast<uint64_t>(value)) {}
  Argument(int32_t value) : type(Type::i32), bits(static_cast<uint32_t>(value)) {}
  Argument(uint32_t value) : type(Type::u32), bits(value) {}
  Argument(float value) : type(Type::f32), bits(std::bit_cast<uint32_t>(value)) {}

  Type type;
  uint64_t bits;
};

// As OpenCL C writes it.
const char* type_name(Argument::Type type);

// The launches of one op, or of several, in order.
class Recording {
 public:
  struct Launch {
    cl_kernel kernel;
    std::array<int64_t, 3> global, local;
    size_t first, count;  // of arguments()
  };

  void clear();
  void add(cl_kernel kernel, const std::array<int64_t, 3>& global, const std::array<int64_t, 3>& local,
           std::span<const Argument> arguments);
  // What was to be enqueued cannot be recorded.
  void refuse() { refused_ = true; }
  bool refused() const { return refused_; }
  const std::vector<Launch>& launches() const { return launches_; }
  std::span<const Argument> arguments(const Launch& launch) const {
    return std::span(arguments_).subspan(launch.first, launch.count);
  }

 private:
  std::vector<Launch> launches_;
  std::vector<Argument> arguments_;
  bool refused_ = false;
};

// The workspaces of a queue while a group is recorded: every member has `each` bytes of each slot, one behind the
// other.
struct GroupSpace {
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of one slot

  uint64_t members;
  std::array<uint64_t, kWorkspaces> each{};
  bool grew = false, too_large = false;

  // How far behind the first member's `member`'s part of this memory lies: of a workspace of `queue`; 0 in other
  // memory.
  int64_t offset(const mk_queue& queue, cl_mem memory, size_t member) const;
  // How large the slot, which has `there` bytes, must be where a member asks for `bytes`.
  uint64_t room_for(size_t slot, uint64_t bytes, uint64_t there);
};

// What the members' arguments are more than the first member's, in device memory; kept, since steps repeat themselves.
class GroupTables {
 public:
  cl_mem memory() const { return memory_.get(); }
  // Where in memory(), in longs, `values` lie.
  int64_t place(mk_queue& queue, const std::vector<int64_t>& values);

  std::vector<Recording> recordings;  // of submit_group, so that steps need no new memory

 private:
  Memory memory_;
  std::vector<int64_t> mirror_;  // outlives the writes
  size_t used_ = 0;
  std::unordered_map<std::string, int64_t> places_;  // by the bytes of the values
};

// A kernel made for groups; none where it did not build.
struct GroupKernel {
  Program program;
  Kernel kernel;
};

// mk_group.submit.
void submit_group(Launcher& launcher, std::span<const mk_op* const> members, size_t each);

}  // namespace mokume::opencl
