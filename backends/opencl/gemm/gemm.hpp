// GEMM: out = alpha * op(a) * op(b) + beta * out.
//
// How own variants add, on every device and for every shape: the K terms of an output element are cut into blocks of
// kBlock. A block's sum is a chain of fma() over k in order, from zero. The output starts as alpha * sum_0 (beta = 0)
// or fma(alpha, sum_0, beta * out) and becomes fma(alpha, sum_b, out) for each further block in order. So an element
// depends on its row of op(a), its column of op(b) and K alone: a row multiplied by itself has the same bits as inside
// a large product, in every variant, tile and split. CLBlast adds in an order of its own.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void gemm(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
