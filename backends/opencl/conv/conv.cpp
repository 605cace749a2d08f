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

// Returns the pieces of all images, or of one image if they are not dense.
Pieces pieces_of(const ConvProblem& p, bool fresh) {
  if (!p.dense()) return {p.window.out_height(), 1, fresh};
  const ops::GradientPieces all = ops::gradient_pieces(p.window, p.images.rows, p.out_channels);
  return {all.rows_each, all.count, fresh};
}

// Does nothing if there is no bias. The images must be dense.
void bias_gradient(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias, bool fresh) {
  if (dbias.buffer != nullptr) column_sums(launcher, p.pixels(0, p.rows()), dbias, fresh);
}

// Computes the gradients of the weights and of the bias, if there is one, from dense images.
void grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces, const mk_tensor& dbias) {
  const mk_device& device = launcher.device();
  if (suits_depthwise(p)) {
    depthwise_grad_weight(launcher, p, pieces);
  } else if (suits_direct_grad(device, p)) {
    // This call also sums the bias.
    direct_grad_weight(launcher, p, pieces, pieces.fresh ? dbias : kNone);
    if (pieces.fresh) return;
  } else if (suits_lines_grad(device, p)) {
    lines_grad_weight(launcher, p, pieces);
  } else if (suits_implicit(device)) {
    implicit_grad_weight(launcher, p, pieces);
  } else {
    patches_grad_weight(launcher, p, pieces);
  }
  bias_gradient(launcher, p, dbias, pieces.fresh);
}

// Up to this many pairs of channels, the transforms of Winograd's gradient cost more than they save.
bool suits_winograd_gradient(const mk_device& device, const ConvProblem& p) {
  constexpr int64_t kFewPairs = 256;
  return suits_winograd(device, p) && !(suits_lines_grad(device, p) && p.window.channels * p.out_channels <= kFewPairs);
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
  const bool winograd = suits_winograd_gradient(launcher.device(), p);
  if (winograd) winograd_grad_weight(launcher, p);
  for_dense(p, [&](const ConvProblem& some, int64_t n) {
    if (winograd)
      bias_gradient(launcher, some, dbias, n == 0);
    else
      grad_weight(launcher, some, pieces_of(p, n == 0), dbias);
  });
}

}  // namespace mokume::opencl
