// All ops of a member in one launch: a core goes through the launches that the ops are recorded as (group.hpp), one
// after the other, while other cores do other members. Nothing is launched or waited for between two ops, and what a
// small network consists of stays in the cache of its core from step to step.
//
// The launches of CPUs are of work-items that stand by themselves: no local memory, no barriers. So a launch is a loop
// over its work-items, and a sequence is a kernel that a table tells which kernel comes next, over how many work-items
// and with which arguments. The kernels are the ops' own, as functions, so a member's bits are those it has by itself.
#pragma once

#include <span>

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Runs what was recorded for each member, recorded with one core (mk_device::cores). False, with nothing done, where
// that cannot be, or is not worth while yet.
bool run_sequences(Launcher& launcher, std::span<const Recording> members, const MemberSpace& space);

}  // namespace mokume::opencl
