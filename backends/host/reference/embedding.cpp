#include "sdk/ops/embedding.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {

void embedding(const Call& call) {
  const View<const float> x = call.input(0), table = call.input(1);
  const View<float> out = call.output();
  const int64_t codes = table.rows / x.columns;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const float code = x.row(r)[c];
      const bool known = code >= 0 && code < float(codes) && code == std::floor(code);
      for (int64_t s = 0; s < table.columns; ++s)
        out.row(r)[c * table.columns + s] = known ? table.row(c * codes + int64_t(code))[s] : NAN;
    }
}

}  // namespace mokume::host::reference
