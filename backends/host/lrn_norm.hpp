// Computes the divisor of local response normalisation before its power (sdk/ops/lrn.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sdk/ops/lrn.hpp"

namespace mokume::host {

// Returns the sum of term(k) over the columns k from `first` to `last` that exist.
template <class Term>
double sum_of_columns(int64_t columns, int64_t first, int64_t last, const Term& term) {
  double sum = 0;
  for (int64_t k = std::max<int64_t>(0, first); k <= std::min(columns - 1, last); ++k) sum += term(k);
  return sum;
}

inline double lrn_norm(const ops::Lrn& form, const float* row, int64_t columns, int64_t c) {
  const double sum = sum_of_columns(columns, c - ops::lrn_before(form), c + ops::lrn_after(form),
                                    [&](int64_t k) { return double(row[k]) * row[k]; });
  return form.bias + form.alpha / double(form.size) * sum;
}

}  // namespace mokume::host
