// Computes GEMM: out = alpha * op(a) * op(b) + beta * out. gemm.cpp selects the kernel of every product.
//
// The backend's own variants sum in one order, on every device and for every shape. They divide the K terms of an
// output element into blocks of kBlock. A block's sum is a chain of fma() over k in order, starting from zero. The
// output starts as alpha * sum_0 (beta = 0) or fma(alpha, sum_0, beta * out), and becomes fma(alpha, sum_b, out) for
// each further block in order. An element thus depends only on its row of op(a), its column of op(b) and K: a single
// row has the same bits as within a large product, in every variant, tile and split. CLBlast sums in
// another order, and so do matrix units within the terms of an instruction.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void gemm(Launcher& launcher, const mk_op& op);

// Sums all terms of an element in one chain, which continues that of the output if beta is 1. Requires the variant
// `vector` and alpha = 1.
void gemm_chain(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
