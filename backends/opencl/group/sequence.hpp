// Runs all ops of a member in one launch. A core executes the recorded launches of the ops (group.hpp) in sequence,
// while other cores run other members. Between two ops, nothing is launched or waited for, and the data of a small
// network stays in the cache of its core from step to step.
//
// The launches of CPUs consist of independent work-items, without local memory and barriers, so a launch can be a loop
// over its work-items. A sequence is a kernel with a table that lists which kernel comes next, over how many work-items
// and with which arguments. The kernels are the ops' own, as functions, so a member's bits are the same as without a
// group.
#pragma once

#include <span>

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Runs the launches that were recorded for each member with mk_device::cores = 1. Returns false, without running
// anything, if this is impossible or not yet worthwhile.
bool run_sequences(Launcher& launcher, std::span<const Recording> members, const MemberSpace& space);

}  // namespace mokume::opencl
