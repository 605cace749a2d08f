// A product on its way to a kernel.
#pragma once

#include <algorithm>
#include <utility>

#include "gemm/product_args.h"
#include "runtime/buffer.hpp"

namespace mokume::opencl {

constexpr int64_t kBlock = 256;                          // terms of a chain of fma(): see gemm.hpp
constexpr int64_t kWorkspaceFloats = int64_t{32} << 20;  // of each of the two workspaces, about

struct Problem {
  Product product;
  cl_mem a, b, out;
  cl_mem bias;  // where there is none, other memory, which kernels leave alone

  int64_t blocks() const { return (product.k + kBlock - 1) / kBlock; }

  // The product of the transposes: out is written column by column.
  Problem turned() const {
    Problem t = *this;
    std::swap(t.a, t.b);
    std::swap(t.product.a, t.product.b);
    std::swap(t.product.m, t.product.n);
    std::swap(t.product.out.row_step, t.product.out.column_step);
    return t;
  }

  // The terms from `first` on, `count` of them.
  Problem terms(int64_t first, int64_t count) const {
    Problem some = *this;
    some.product.a.offset += first * product.a.k_step;
    some.product.b.offset += first * product.b.k_step;
    some.product.k = std::min(count, product.k - first);
    return some;
  }
};

}  // namespace mokume::opencl
