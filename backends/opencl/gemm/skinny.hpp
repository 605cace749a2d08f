// Computes CPU products with one short side, with the other operand in place, and small products (skinny.cl).
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Requires a long operand that is contiguous along k. Vectors run along the short operand.
void skinny_along_k(Launcher& launcher, const Problem& p);

// Requires rows of b that are long and so numerous that memory bandwidth is the limit. Each work-item reads its own
// rows from end to end. (Two cores that each read half of every row get half the bandwidth.) Adds up the sums of a few
// blocks at a time, before they leave the caches.
void skinny_long_rows(Launcher& launcher, const Problem& p);

// Requires a long operand b that is contiguous along n, for example a layer's weights multiplied by a small batch.
void skinny_few_rows(Launcher& launcher, const Problem& p);

// Requires the transpose of a as the long operand, so it writes columns of out. Does not apply bias and activation.
void skinny_columns(Launcher& launcher, const Problem& p);

void small_product(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
