// Holds rows for local response normalisation (isa/rows.hpp), which continue with zeros on both sides.
#pragma once

#include <algorithm>
#include <vector>

#include "isa/rows.hpp"
#include "sdk/ops/lrn.hpp"

namespace mokume::host {

inline LrnForm lrn_form(const ops::Lrn& lrn) {
  return {ops::lrn_before(lrn), ops::lrn_after(lrn), static_cast<float>(lrn.alpha / static_cast<double>(lrn.size)),
          static_cast<float>(lrn.beta), static_cast<float>(lrn.bias)};
}

class PaddedRow {
 public:
  PaddedRow(int64_t columns, int64_t zeros)
      : columns_(columns), zeros_(zeros), all_(static_cast<size_t>(columns + 2 * zeros)) {}

  // Returns a copy of the row, which the next call replaces.
  const float* copy_of(const float* row) {
    std::copy_n(row, columns_, all_.data() + zeros_);
    return all_.data() + zeros_;
  }

 private:
  int64_t columns_, zeros_;
  std::vector<float> all_;
};

}  // namespace mokume::host
