#include "products.hpp"

#include "isa/products.hpp"
#include "onednn.hpp"
#include "sdk/ops/gemm.hpp"

namespace mokume::host {
namespace {

static_assert(ops::kGemmCut % kTileRows == 0 && ops::kGemmCut % kTileColumns == 0);

// A view of one row may carry any stride, but oneDNN requires one that covers the columns.
template <class T>
int64_t leading(const View<T>& v) {
  return v.rows > 1 ? v.stride : v.columns;
}

const float* at(const View<const float>& x, bool transposed, int64_t r, int64_t c) {
  return transposed ? x.row(c) + r : x.row(r) + c;
}

}  // namespace

void Product::row(int64_t r, int64_t c, int64_t columns) const noexcept {
  row_product({at(a, transpose_a, r, 0), transpose_a ? a.stride : 1, k, b.row(0) + c, b.stride, out.row(r) + c, columns,
               beta == 1});
}

bool Product::tile(int64_t r, int64_t c) const noexcept {
  const int64_t rows = std::min(kTileRows, out.rows - r), columns = std::min(kTileColumns, out.columns - c);
  if (rows == 1 && takes_rows()) return row(r, c, columns), true;
  for (int64_t k0 = 0; k0 < k; k0 += ops::kGemmCut)
    if (!sgemm({transpose_a, transpose_b, rows, columns, std::min(ops::kGemmCut, k - k0), alpha,
                at(a, transpose_a, r, k0), leading(a), at(b, transpose_b, k0, c), leading(b), k0 == 0 ? beta : 1.0F,
                out.row(r) + c, leading(out)}))
      return false;
  return true;
}

}  // namespace mokume::host
