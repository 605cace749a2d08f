// CPU products with one short side, which read the other operand in place, and small products: skinny.cl.
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// The long operand is contiguous along k, so vectors run along the short one.
void skinny_along_k(Launcher& launcher, const Problem& p);

// b has long rows, and so many that memory bandwidth decides. Each work-item reads its own rows from one end to the
// other. (If two cores each read half of every row, they get half the bandwidth.) The sums of blocks are added up, a
// few blocks at a time, before they leave the caches.
void skinny_long_rows(Launcher& launcher, const Problem& p);

// The long operand b is contiguous along n: the few rows of a batch times a layer's weights.
void skinny_few_rows(Launcher& launcher, const Problem& p);

// The long operand is the transpose of a, so out is written column by column. Does not apply the bias and the
// activation.
void skinny_columns(Launcher& launcher, const Problem& p);

// One work-item does everything.
void small_product(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
