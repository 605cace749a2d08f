// Runs the ops of several members in fewer launches.
//
// The backend records each op: the kernels that it would launch, and their arguments. On CPUs with at least as many
// members as cores, one core then executes everything recorded for a member (sequence.hpp). Cores share the launches of
// a single member with small ops, such as a network that predicts a few rows. Otherwise, members proceed
// op by op. If the launches of all members differ only in the values of their structs, one launch runs them all.
// group.cpp generates its kernel, which calls the op's kernel with the arguments of the member that the index in the
// third dimension selects. Kernels therefore need no code for groups (see ITEM in common.cl), and a member's bits are
// the same as without a group.
#pragma once

#include <span>

#include "abi/op.h"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Implements mk_group.submit.
void submit_group(Launcher& launcher, std::span<const mk_op* const> members, size_t each);

}  // namespace mokume::opencl
