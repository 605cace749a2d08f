#include "gemm/gemm.hpp"

#include "common/grid.hpp"
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
  return {.product = {.a = operand(a, op.gemm.transpose_a != 0),
                      .b = operand(b, op.gemm.transpose_b == 0),
                      .out = {out.offset, out.row_stride, 1},
                      .m = m,
                      .n = n,
                      .k = k,
                      .bias_offset = bias.offset,
                      .alpha = static_cast<float>(op.gemm.alpha),
                      .beta = static_cast<float>(op.gemm.beta),
                      .biased = biased ? 1 : 0,
                      .relu = op.gemm.activation == ops::Activation::relu ? RELU : 0},
          .a = memory(a),
          .b = memory(b),
          .out = memory(out),
          .bias = memory(biased ? bias : out),
          .may_round = op.gemm.may_round != 0};
}

constexpr int64_t kShort = 64;  // products with a short side up to this length read the long operand in place
constexpr int64_t kSome = 256;  // products of up to this many rows pack panels of a on the fly if K is much larger
// One core computes this many terms, in whole vectors, in less time than a launch takes to wake two cores.
constexpr int64_t kSmall = 32768;

// Returns whether b is contiguous along n, has rows of about a vector or more, and is better read in place than packed.
bool reads_b_in_place(const mk_device& device, const VectorSizes& sizes, const Product& q) {
  const bool wide_enough = q.n >= sizes.nr || (q.n > device.vector_width && q.k >= kBlock);
  if (q.b.row_step != 1 || !wide_enough) return false;
  return q.m <= kShort ? q.n > q.m : q.m <= kSome && q.k > 4 * q.m;
}

bool has_long_rows(const mk_device& device, const Product& q) {
  constexpr int64_t kLongRow = 192;  // skinny_long_rows() is not worthwhile for shorter rows
  return q.m <= VectorSizes::kShortPanel && q.n >= kLongRow && q.k >= 8 * device.cores * kBlock;
}

// Returns whether packing the long operand, here a, would cost more than the product. A long operand that is read in
// vectors must be at least two vectors long.
bool is_skinny(const VectorSizes& sizes, const Product& q) {
  const bool fits = (q.n + VectorSizes::kShortPanel) * q.k <= kWorkspaceFloats;
  return q.n <= kShort && fits && (q.a.k_step == 1 || q.m >= sizes.nr);
}

// Multiplies with the CPU kernel that suits the product. Returns false if that kernel has no epilogue.
bool gemm_vector(Launcher& launcher, Problem p) {
  const mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const Product& q = p.product;
  // Treats a column as a row, because kernels write rows in vectors.
  if (q.n == 1 && q.out.row_step == 1 && q.a.row_step == 1 && q.biased == 0) p = p.turned();
  if (reads_b_in_place(device, sizes, q)) {
    has_long_rows(device, q) ? skinny_long_rows(launcher, p) : skinny_few_rows(launcher, p);
  } else if (q.k <= 4 * kBlock && q.m * round_up(q.n, device.vector_width) * q.k <= kSmall) {
    small_product(launcher, p);
  } else if (const Product s = p.long_first().product; !is_skinny(sizes, s)) {
    gemm_packed(launcher, p);
  } else if (s.a.k_step == 1) {
    skinny_along_k(launcher, p);
  } else {
    skinny_columns(launcher, p);
    return false;
  }
  return true;
}

// Applies the bias and the activation for variants whose kernels have no epilogue.
void finish_output(Launcher& launcher, const mk_op& op) {
  const mk_tensor bias = op.n_inputs == 3 ? op.inputs[2] : mk_tensor{}, &out = op.outputs[0];
  const ops::Activation activation = op.gemm.activation;
  if (bias.buffer != nullptr || activation == ops::Activation::relu)
    bias_act(launcher, ops::bias_act(out, bias, activation, out));
}

}  // namespace

void gemm_chain(Launcher& launcher, const mk_op& op) {
  Problem p = problem_of(op);
  p.chain = true;
  gemm_packed(launcher, p);
}

void gemm(Launcher& launcher, const mk_op& op) {
  if (sdk::empty(op.outputs[0])) return;
  const std::string& variant = launcher.device().choices.gemm;
  if (ops::gemm_shape(op).k == 0) {
    scale(launcher, op.outputs[0], static_cast<float>(op.gemm.beta));
  } else if (variant == "clblast") {
    gemm_clblast(launcher, op);
  } else if (variant == "tile") {
    return gemm_tile(launcher, problem_of(op));
  } else if (gemm_vector(launcher, problem_of(op))) {
    return;
  }
  finish_output(launcher, op);
}

}  // namespace mokume::opencl
