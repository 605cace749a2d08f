// dropout: out = x / (1 - p) or 0, depending on a random number (f32); forward and backward are the same op.
//
//   inputs   x: M x K   outputs  out: M x K; may be the same view as x
//   reals    [0] = p, in [0, 1)
//   integers [0] = seed (64 bits), [1] = layer and [2] = step (32 bits each), [3] = first_row
//
// Element (r, c) is kept if word c % 4 of philox({first_row + r, c / 4, step, layer}, seed) is at least
// round(p * 2^32). This is a pure function of seed, step, layer, row in the whole batch and column (rows and columns /
// 4 are below 2^32). The key is {low 32 bits of seed, high 32 bits}; see sdk/philox.hpp.
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

struct DropoutPlace {
  uint64_t seed = 0;
  uint32_t layer = 0, step = 0;
  int64_t first_row = 0;
};

inline mk_op dropout(const mk_tensor& x, double p, const DropoutPlace& place, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_DROPOUT);
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.inputs[0] = x;
  op.outputs[0] = out;
  op.reals[0] = p;
  op.integers[0] = static_cast<int64_t>(place.seed);
  op.integers[1] = place.layer;
  op.integers[2] = place.step;
  op.integers[3] = place.first_row;
  return op;
}

// The smallest word that keeps its element.
inline uint32_t dropout_threshold(const mk_op& op) {
  return static_cast<uint32_t>(std::min(std::floor(op.reals[0] * 0x1p32 + 0.5), 0x1p32 - 1));
}
inline float dropout_scale(const mk_op& op) { return static_cast<float>(1.0 / (1.0 - op.reals[0])); }

inline void check_dropout(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("dropout", "x", x, MK_F32);
  sdk::check_view("dropout", "out", op.outputs[0], MK_F32);
  sdk::check_shape("dropout", "out", op.outputs[0], x.rows, x.columns);
  if (!(op.reals[0] >= 0 && op.reals[0] < 1))
    throw Error(MK_INVALID_ARGUMENT, "dropout: p must be at least 0 and below 1");
  constexpr int64_t kWords = int64_t{1} << 32;
  for (const int i : {1, 2})
    if (op.integers[i] < 0 || op.integers[i] >= kWords)
      throw Error(MK_INVALID_ARGUMENT, "dropout: layer and step must be from 0 to 2^32 - 1");
  if (op.integers[3] < 0 || op.integers[3] > kWords - x.rows || x.columns / 4 >= kWords)
    throw Error(MK_INVALID_ARGUMENT, "dropout: rows and quarter columns must be below 2^32");
}

// Relative to the one product; the mask is exact.
inline double tolerance_dropout(const mk_op&) { return 0x1p-24; }

inline sdk::Cost cost_dropout(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {26 * e, 8 * e};
}

}  // namespace mokume::ops
