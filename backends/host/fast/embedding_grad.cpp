#include <algorithm>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/embedding.hpp"

namespace mokume::host::fast {

// Sums follow the order of the rows of x.
void embedding_grad(const Call& call) {
  const View<const float> x = call.input(0), grad = call.input(1);
  const View<float> table = call.output();
  const int64_t codes = table.rows / x.columns, size = table.columns;
  call.for_rows(x.columns, x.rows * size, [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      for (int64_t v = 0; v < codes; ++v) std::fill_n(table.row(c * codes + v), size, 0.0F);
      for (int64_t r = 0; r < x.rows; ++r) {
        const float code = x.row(r)[c];
        if (!(code >= 0 && code < static_cast<float>(codes))) continue;
        const auto vector = static_cast<int64_t>(code);
        if (static_cast<float>(vector) != code) continue;
        call.loops.network->add(table.row(c * codes + vector), grad.row(r) + c * size, size);
      }
    }
  });
}

}  // namespace mokume::host::fast
