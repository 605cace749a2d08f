// Runs all ops of a member in one launch. A core executes the recorded launches of the ops (group.hpp) in sequence,
// while other cores run other members. Between two ops, nothing is launched or waited for, and the data of a small
// network stays in the cache of its core from step to step. The cores can also share the launches of a single member.
//
// The launches of CPUs consist of independent work-items, without local memory and barriers, so a launch can be a loop
// over its work-items. A sequence is a kernel with a table that lists which kernel comes next, over how many work-items
// and with which arguments. The kernels are the ops' own, as functions, so a member's bits are the same as without a
// group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/launcher.hpp"

namespace mokume::opencl {

struct SequenceProgram;

inline constexpr int64_t kMostThreads = 16;  // limit for the threads that share the launches of a member

// Holds what launches a sequence, as often as its buffers exist.
struct Sequence {
  SequenceProgram* program = nullptr;
  std::vector<Recording::Launch> kernels;  // one launch of each kernel
  std::vector<int64_t> table;
  std::vector<cl_mem> buffers;
  int64_t members = 0, threads = 1;
  uint64_t launches = 0;  // number of recorded launches
  int64_t place = 0;      // place of the table in device memory, during one round of its memory
  uint64_t round = 0;     // 0 if the table is not in device memory
};

// Prepares the launches that were recorded for each member with mk_device::cores = threads. Threads share the launches
// of a single member; with several members, `threads` is 1. Returns false if a launch cannot be part of a sequence.
bool prepare_sequence(Launcher& launcher, std::span<const Recording> members, const MemberSpace& space, int64_t threads,
                      Sequence& sequence);

// Returns false, without running anything, if this is impossible or not yet worthwhile.
bool run_sequence(Launcher& launcher, Sequence& sequence);

// Returns whether the work-items of a launch may wait for each other's results, as those of threads of the host may.
bool has_threads(const mk_device& device);

}  // namespace mokume::opencl
