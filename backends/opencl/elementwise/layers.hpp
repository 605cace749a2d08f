// Runs the ops between the matrix products of a network: biases, activations, dropout and scaled columns.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void bias_act(Launcher& launcher, const mk_op& op);
void act_grad(Launcher& launcher, const mk_op& op);
void dropout(Launcher& launcher, const mk_op& op);
void affine_columns(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
