// All ops of a member in one launch: a core goes through the launches that the ops are recorded as (group.hpp), one
// after the other, while other cores do other members. Nothing is launched or waited for between two ops, and what a
// small network consists of stays in the cache of its core from step to step.
//
// The launches of CPUs are of work-items that stand by themselves: no local memory, no barriers. So a launch is a loop
// over its work-items, and a sequence a kernel that is told by a table which kernel comes next, over how many
// work-items and with which arguments. The kernels are the ops' own, as functions, so a member's bits are those it has
// by itself. (They are not linked: what PoCL links no longer takes subnormals for zeros. All of them are one source.)
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/cl.hpp"

struct mk_device;
struct mk_op;
struct mk_queue;

namespace mokume::opencl {

class Launcher;
class Recording;
struct GroupSpace;

inline constexpr size_t kSequenceMemories = 64;  // that the launches of a sequence may use

// The programs of sequences, by the kernels they call.
class SequencePrograms {
 public:
  // Of the kernels that were recorded for members. nullptr where the driver cannot build it, and as long as it was not
  // asked for by so many launches that a build is worth its time.
  cl_kernel kernel(mk_device& device, const std::vector<cl_kernel>& kernels, std::span<const Recording> members);

 private:
  struct Built {
    uint64_t launches = 0;
    bool tried = false;
    Program program;
    Kernel kernel;
  };
  std::map<std::vector<cl_kernel>, Built> built_;
};

// What tells the kernel of a sequence what to do, in device memory: written again and again, from front to end.
class SequenceTables {
 public:
  cl_mem memory() const { return memory_.get(); }
  // Where in memory(), in longs, `table` lies from now on.
  int64_t place(mk_queue& queue, std::span<const int64_t> table);

  std::vector<int64_t> values;  // so that steps need no new memory

 private:
  Memory memory_;
  std::vector<int64_t> mirror_;  // outlives the writes
  size_t used_ = 0;
};

// Runs what was recorded for each member, recorded with one core (mk_device::cores). False, with nothing done, where
// that cannot be, or is not worth while yet.
bool run_sequences(Launcher& launcher, std::span<const Recording> members, const GroupSpace& space);

}  // namespace mokume::opencl
