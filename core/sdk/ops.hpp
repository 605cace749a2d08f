// All ops: name, shape rule, tolerance and cost by code. A new op adds its header and one row here.
#pragma once

#include "sdk/ops/fill.hpp"
#include "sdk/ops/gather_rows.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/kernel_map.hpp"
#include "sdk/ops/row_norm2.hpp"

namespace mokume::ops {

struct OpRule {
  mk_op_code code;
  const char* name;
  uint32_t min_inputs, max_inputs, outputs;
  void (*check)(const mk_op&);        // throws Error(MK_INVALID_ARGUMENT)
  double (*tolerance)(const mk_op&);  // against the host oracle; what it is relative to is in the op's header
  sdk::Cost (*cost)(const mk_op&);
};

inline constexpr OpRule kOps[] = {
    {MK_OP_FILL, "fill", 0, 0, 1, check_fill, tolerance_fill, cost_fill},
    {MK_OP_GEMM, "gemm", 2, 2, 1, check_gemm, tolerance_gemm, cost_gemm},
    {MK_OP_ROW_NORM2, "row_norm2", 1, 1, 1, check_row_norm2, tolerance_row_norm2, cost_row_norm2},
    {MK_OP_KERNEL_MAP, "kernel_map", 1, 3, 1, check_kernel_map, tolerance_kernel_map, cost_kernel_map},
    {MK_OP_GATHER_ROWS, "gather_rows", 2, 2, 1, check_gather_rows, tolerance_gather_rows, cost_gather_rows},
};
static_assert(sizeof(kOps) / sizeof(kOps[0]) == MK_OP_COUNT_ - 1, "every op code needs a row");
static_assert(MK_OP_COUNT_ - 1 <= MK_OP_CAP, "the op set is closed: see docs/howto/add-op.md");

// Throws for an unknown code.
inline const OpRule& rule(int32_t code) {
  if (code < 1 || code >= MK_OP_COUNT_) throw Error(MK_UNSUPPORTED, "unknown op code " + std::to_string(code));
  return kOps[code - 1];
}

// Throws MK_INVALID_ARGUMENT unless the descriptor keeps its op's shape rule. Does not look at buffers.
inline void check(const mk_op& op) {
  const OpRule& r = rule(op.code);
  if (op.struct_size < sizeof(mk_op)) throw Error(MK_INVALID_ARGUMENT, "op descriptor is too small");
  if (op.n_inputs < r.min_inputs || op.n_inputs > r.max_inputs || op.n_outputs != r.outputs)
    throw Error(MK_INVALID_ARGUMENT, std::string(r.name) + ": wrong number of operands");
  r.check(op);
}

}  // namespace mokume::ops
