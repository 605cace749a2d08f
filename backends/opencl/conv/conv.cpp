#include "conv/conv.hpp"

#include "conv/column_sums.hpp"
#include "conv/depthwise.hpp"
#include "conv/direct.hpp"
#include "conv/direct_grad.hpp"
#include "conv/lines.hpp"
#include "conv/patches.hpp"
#include "conv/winograd.hpp"
#include "elementwise/elementwise.hpp"
#include "elementwise/layers.hpp"
#include "implicit/implicit.hpp"
#include "transformed/transformed.hpp"

namespace mokume::opencl {
namespace {

constexpr mk_tensor kNone{};

// Sums all pixels at once if the images are contiguous, otherwise image by image.
void bias_gradient(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias) {
  const int64_t each = p.dense() ? p.windows.rows : 1;
  for (int64_t first = 0; first < p.windows.rows; first += each)
    column_sums(launcher, p.pixels(first, each), dbias, first == 0);
}

}  // namespace

void conv2d(Launcher& launcher, const mk_op& op) {
  const ConvProblem p(op, op.inputs[0], op.inputs[1], op.outputs[0]);
  if (sdk::empty(op.outputs[0])) return;
  const mk_tensor& bias = op.n_inputs == 3 ? op.inputs[2] : kNone;
  const ops::Activation activation = op.conv2d.activation;
  const bool relu = activation == ops::Activation::relu;
  if (suits_depthwise(p)) return depthwise_forward(launcher, p, bias, relu);
  if (suits_transformed(launcher.device(), p)) return transformed_forward(launcher, p, bias, relu);
  if (suits_winograd(launcher.device(), p)) return winograd_forward(launcher, p, bias, relu);
  if (suits_direct(launcher.device(), p)) return direct_forward(launcher, p, bias, relu);
  if (suits_lines(launcher.device(), p)) return lines_forward(launcher, p, bias, relu);
  if (suits_implicit(launcher.device())) return implicit_forward(launcher, p, bias, relu);
  patches_forward(launcher, p, bias, activation);
}

void conv2d_grad_input(Launcher& launcher, const mk_op& op) {
  const ConvProblem p(op, op.outputs[0], op.inputs[1], op.inputs[0]);
  const mk_tensor &dx = op.outputs[0], *x = ops::relu_of_grad(op);
  if (sdk::empty(dx)) return;
  if (p.out_channels == 0) return fill(launcher, ops::fill(dx, 0.0F));
  if (suits_depthwise(p)) {
    depthwise_grad_input(launcher, p);
  } else if (suits_transformed(launcher.device(), p)) {
    return transformed_grad_input(launcher, p, x);
  } else if (suits_winograd(launcher.device(), p)) {
    winograd_grad_input(launcher, p);
  } else if (suits_lines_grad_input(launcher.device(), p)) {
    lines_grad_input(launcher, p);
  } else if (suits_implicit(launcher.device())) {
    if (implicit_grad_input(launcher, p, x)) return;
  } else {
    patches_grad_input(launcher, p);
  }
  if (x != nullptr) act_grad(launcher, ops::act_grad(dx, *x, ops::Activation::relu, dx));
}

void conv2d_grad_weight(Launcher& launcher, const mk_op& op) {
  const ConvProblem p(op, op.inputs[0], op.outputs[0], op.inputs[1]);
  const mk_tensor& dweight = op.outputs[0];
  if (sdk::empty(dweight)) return;
  const mk_tensor& dbias = op.n_outputs == 2 ? op.outputs[1] : kNone;
  if (p.images.rows == 0) {
    fill(launcher, ops::fill(dweight, 0.0F));
    if (dbias.buffer != nullptr) fill(launcher, ops::fill(dbias, 0.0F));
    return;
  }
  // Up to this many pairs of channels, the transforms of Winograd's gradient cost more than they save.
  constexpr int64_t kFewPairs = 256;
  const bool lines = suits_lines_grad(launcher.device(), p);
  if (suits_depthwise(p)) {
    depthwise_grad_weight(launcher, p);
  } else if (lines && p.window.channels * p.out_channels <= kFewPairs && suits_winograd(launcher.device(), p)) {
    lines_grad_weight(launcher, p);
  } else if (suits_winograd(launcher.device(), p)) {
    winograd_grad_weight(launcher, p);
  } else if (suits_direct_grad(launcher.device(), p)) {
    // This call also sums the bias if the images are contiguous.
    direct_grad_weight(launcher, p, p.dense() ? dbias : kNone);
    if (p.dense()) return;
  } else if (lines) {
    lines_grad_weight(launcher, p);
  } else if (suits_implicit(launcher.device())) {
    implicit_grad_weight(launcher, p);
  } else {
    patches_grad_weight(launcher, p);
  }
  if (dbias.buffer != nullptr) bias_gradient(launcher, p, dbias);
}

}  // namespace mokume::opencl
