#include "gemm/gemm.hpp"

#include "elementwise/elementwise.hpp"
#include "elementwise/layers.hpp"
#include "gemm/clblast.hpp"
#include "gemm/problem.hpp"
#include "gemm/skinny.hpp"
#include "gemm/tile.hpp"
#include "gemm/vector.hpp"
#include "runtime/device.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

Operand operand(const mk_tensor& t, bool kIsRow) {
  return {t.offset, kIsRow ? 1 : t.row_stride, kIsRow ? t.row_stride : 1};
}

Problem problem_of(const mk_op& op) {
  const mk_tensor &a = op.inputs[0], &b = op.inputs[1], &out = op.outputs[0];
  const auto [m, n, k] = ops::gemm_shape(op);
  const mk_tensor bias = op.n_inputs == 3 ? op.inputs[2] : mk_tensor{};
  const bool biased = bias.buffer != nullptr;
  return {.product = {.a = operand(a, op.integers[0] != 0),
                      .b = operand(b, op.integers[1] == 0),
                      .out = {out.offset, out.row_stride, 1},
                      .m = m,
                      .n = n,
                      .k = k,
                      .bias_offset = bias.offset,
                      .alpha = static_cast<float>(op.reals[0]),
                      .beta = static_cast<float>(op.reals[1]),
                      .biased = biased ? 1 : 0,
                      .relu = op.integers[2] == static_cast<int64_t>(ops::Activation::relu) ? 1 : 0},
          .a = memory(a),
          .b = memory(b),
          .out = memory(out),
          .bias = memory(biased ? bias : out)};
}

// Applies the bias and the activation for variants whose kernels have no epilogue.
void finish_output(Launcher& launcher, const mk_op& op) {
  const mk_tensor bias = op.n_inputs == 3 ? op.inputs[2] : mk_tensor{}, &out = op.outputs[0];
  const auto activation = static_cast<ops::Activation>(op.integers[2]);
  if (bias.buffer != nullptr || activation == ops::Activation::relu)
    bias_act(launcher, ops::bias_act(out, bias, activation, out));
}

}  // namespace

void gemm(Launcher& launcher, const mk_op& op) {
  if (sdk::empty(op.outputs[0])) return;
  const std::string& variant = launcher.device().choices.gemm;
  if (ops::gemm_shape(op).k == 0) {
    scale(launcher, op.outputs[0], static_cast<float>(op.reals[1]));
  } else if (variant == "clblast") {
    gemm_clblast(launcher, op);
  } else if (variant == "tile") {
    gemm_tile(launcher, problem_of(op));
  } else {
    Problem p = problem_of(op);
    const Product& q = p.product;
    // Treats a column as a row, which the kernels write in vectors.
    if (q.n == 1 && q.out.row_step == 1 && q.a.row_step == 1 && q.biased == 0) p = p.turned();
    if (gemm_skinny(launcher, p)) return;
  }
  finish_output(launcher, op);
}

}  // namespace mokume::opencl
