// CPU products with one short side, which read the other operand in place, and small products: skinny.cl.
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Requires a long operand that is contiguous along k; vectors run along the short operand.
void skinny_along_k(Launcher& launcher, const Problem& p);

// Requires rows of b that are long and so numerous that memory bandwidth decides. Each work-item reads its own rows
// from end to end. (If two cores each read half of every row, they get half the bandwidth.) The sums of a few blocks at
// a time are added up before they leave the caches.
void skinny_long_rows(Launcher& launcher, const Problem& p);

// Requires a long operand b that is contiguous along n, for example a layer's weights multiplied by a small batch.
void skinny_few_rows(Launcher& launcher, const Problem& p);

// Requires the transpose of a as the long operand, so columns of out are written. Does not apply bias and activation.
void skinny_columns(Launcher& launcher, const Problem& p);

void small_product(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
