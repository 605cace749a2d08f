// A product in the form that the kernels' host code takes.
#pragma once

#include <algorithm>
#include <utility>

#include "gemm/limits.hpp"
#include "gemm/product_args.h"
#include "runtime/buffer.hpp"

namespace mokume::opencl {

struct Problem {
  Product product;
  cl_mem a, b, out;
  cl_mem bias;             // other memory, which kernels do not access, if there is no bias
  bool may_round = false;  // matrix units may multiply
  int64_t block = kBlock;  // terms of a chain, at most kMostTerms; only kernels with tiles serve other values
  bool chain = false;      // see gemm_chain()

  int64_t blocks() const { return (product.k + kBlock - 1) / kBlock; }

  // Returns the product of the transposes; out is then written column by column.
  Problem turned() const {
    Problem t = *this;
    std::swap(t.a, t.b);
    std::swap(t.product.a, t.product.b);
    std::swap(t.product.m, t.product.n);
    std::swap(t.product.out.row_step, t.product.out.column_step);
    return t;
  }

  // Returns the problem with the long operand as a.
  Problem long_first() const { return product.n <= product.m ? *this : turned(); }

  // Returns the product over terms [first, first + count).
  Problem terms(int64_t first, int64_t count) const {
    Problem some = *this;
    some.product.a.offset += first * product.a.k_step;
    some.product.b.offset += first * product.b.k_step;
    some.product.k = std::min(count, product.k - first);
    return some;
  }
};

}  // namespace mokume::opencl
