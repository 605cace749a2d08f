// The ops on OpenCL: one function each, enqueuing on the launcher's queue.
#pragma once

#include "abi/op.h"
#include "runtime/device.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::opencl {

// Checks the descriptor against its op's rule and its operands against their buffers, then runs it. Throws
// MK_INVALID_ARGUMENT.
void submit(Launcher& launcher, const mk_op& op);

// The two halves of submit(): the checks, and the work.
void admit(const mk_device& device, const mk_op& op);
void run(Launcher& launcher, const mk_op& op);

// Whether a valid op sums so many terms that an emulated GPU's work-item may take more turns than it has: see
// MK_DEVICE_SOFTWARE. submit() refuses it.
bool is_too_long(const mk_device& device, const mk_op& op);

// The own GEMMs and CLBlast's; see ops_gemm.cpp for the order in which own GEMMs add.
void gemm(Launcher& launcher, const mk_op& op);

void fill(Launcher& launcher, const mk_op& op);
void row_norm2(Launcher& launcher, const mk_op& op);
void kernel_map(Launcher& launcher, const mk_op& op);
void gather_rows(Launcher& launcher, const mk_op& op);

// Images: ops_images.cpp.
void max_pool(Launcher& launcher, const mk_op& op);
void max_pool_grad(Launcher& launcher, const mk_op& op);
void avg_pool(Launcher& launcher, const mk_op& op);
void avg_pool_grad(Launcher& launcher, const mk_op& op);

// The patches under the windows of images, one per row: element (i * kernel_w + j) * channels + c is pixel (i, j) of
// the window, channel c, and 0 in the padding. And its transpose: patches added up into images, every pixel the sum of
// the elements it would be copied to, in the order of the window's pixels, starting from 0. Neither operand is empty.
void unfold(Launcher& launcher, const mk_tensor& images, const ops::Window& window, const mk_tensor& patches);
void fold(Launcher& launcher, const mk_tensor& patches, const ops::Window& window, const mk_tensor& images);

// Convolutions: ops_convolution.cpp.
void conv2d(Launcher& launcher, const mk_op& op);
void conv2d_grad_input(Launcher& launcher, const mk_op& op);
void conv2d_grad_weight(Launcher& launcher, const mk_op& op);

// What lies between the products of a network: ops_network.cpp.
void bias_act(Launcher& launcher, const mk_op& op);
void act_grad(Launcher& launcher, const mk_op& op);
void dropout(Launcher& launcher, const mk_op& op);
void affine_columns(Launcher& launcher, const mk_op& op);
void softmax_loss(Launcher& launcher, const mk_op& op);
void squared_loss(Launcher& launcher, const mk_op& op);
void optimizer_step(Launcher& launcher, const mk_op& op);

// A fully connected layer's gradient and step: ops_linear.cpp.
void linear_update(Launcher& launcher, const mk_op& op);

// view = keep * view; zero for keep = 0.
void scale(Launcher& launcher, const mk_tensor& view, float keep);

}  // namespace mokume::opencl
