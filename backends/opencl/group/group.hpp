// The ops of several members in fewer launches.
//
// Each op is recorded: which kernels it would launch, with which arguments. On CPUs, and where there are as many
// members as cores, a core then does all that was recorded for a member: sequence.hpp. Elsewhere members go op by op:
// where the launches of all members agree but for the values in their structs, one launch does them all. Its kernel is
// made here: it calls the op's own, with the arguments of the member that its index in the third dimension selects. So
// no kernel needs to know of groups (see ITEM in common.cl), and a member's bits are those it has by itself.
#pragma once

#include <span>

#include "abi/op.h"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// mk_group.submit.
void submit_group(Launcher& launcher, std::span<const mk_op* const> members, size_t each);

}  // namespace mokume::opencl
