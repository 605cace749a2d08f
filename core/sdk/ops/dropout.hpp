// dropout: out = x / (1 - p) or 0, depending on a random number (f32). Forward and backward passes use the same op.
//
//   inputs   x: M x K   outputs  out: M x K; may be the same view as x
//   attributes p, in [0, 1); for the place: seed (64 bits), layer and step (32 bits each), first_row
//
// The op keeps element (r, c) if word c % 4 of philox({first_row + r, c / 4, step, layer}, seed) is at least
// round(p * 2^32). This is a pure function of seed, step, layer, row in the whole batch and column (rows and
// columns / 4 are below 2^32). The key is {low 32 bits of seed, high 32 bits}; see sdk/philox.hpp.
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

using DropoutPlace = mk_dropout_place;

inline mk_op dropout(const mk_tensor& x, double p, const DropoutPlace& place, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_DROPOUT, {x}, {out});
  op.dropout = {p, place};
  return op;
}

// Returns the smallest random word that keeps an element.
inline uint32_t dropout_threshold(const mk_op& op) {
  return static_cast<uint32_t>(std::min(std::floor(op.dropout.p * 0x1p32 + 0.5), 0x1p32 - 1));
}
inline float dropout_scale(const mk_op& op) { return static_cast<float>(1.0 / (1.0 - op.dropout.p)); }

MOKUME_ATTRIBUTES(kDropoutAttributes, mk_dropout, MK_DROPOUT(MOKUME_ATTRIBUTE, MOKUME_PART));

inline void check_dropout(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("dropout", "x", x, MK_F32);
  sdk::check_operand("dropout", "out", op.outputs[0], x.rows, x.columns);
  if (!(op.dropout.p >= 0 && op.dropout.p < 1))
    throw Error(MK_INVALID_ARGUMENT, "dropout: p must be at least 0 and below 1");
  constexpr int64_t kWords = int64_t{1} << 32;
  const DropoutPlace& at = op.dropout.place;
  for (const int64_t word : {at.layer, at.step})
    if (word < 0 || word >= kWords)
      throw Error(MK_INVALID_ARGUMENT, "dropout: layer and step must be from 0 to 2^32 - 1");
  if (at.first_row < 0 || at.first_row > kWords - x.rows || x.columns / 4 >= kWords)
    throw Error(MK_INVALID_ARGUMENT, "dropout: rows and quarter columns must be below 2^32");
}

// The tolerance is relative to the product; the mask is exact.
inline double tolerance_dropout(const mk_op&) { return 0x1p-24; }

inline sdk::Cost cost_dropout(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {26 * e, 8 * e};
}

}  // namespace mokume::ops
