// Turns kernel values with landmarks into features whose dot products approximate the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/plugin.hpp"
#include "settings.hpp"

namespace mokume::svc {

// With the kernel values k(x) of a row with the kept landmarks, its features are transform * k(x). The transform is the
// inverse of the Cholesky factor L of the kernel matrix of the kept landmarks, so the features of a kept landmark are
// its row of L, and their dot products are exact. A landmark that the earlier ones explain up to kLeastPivot of the
// largest kernel value is not kept: float32 kernel values leave nothing but noise there.
struct Basis {
  std::vector<int64_t> kept;      // indices of landmarks, in the order of the factor
  std::vector<double> transform;  // lower triangle, size() x size()
  double mean_diagonal = 0;       // average over all landmarks

  int64_t size() const { return static_cast<int64_t>(kept.size()); }
};

inline constexpr double kLeastPivot = 1e-6;

// `x` holds `count` rows of `features` inputs. The host computes in double precision with a fixed order of sums, and
// takes as next landmark always the one that the earlier ones explain least. Kernel values are rounded to float32, so
// that the last bit of a mathematical library does not matter. Throws Error(MK_INVALID_ARGUMENT) if they overflow.
Basis make_basis(const sdk::Host& host, const Kernel& kernel, const std::vector<float>& x, int64_t count,
                 int64_t features);

// Returns transform' * weights, the coefficients of the kept landmarks in the decision function.
std::vector<double> coefficients_of(const Basis& basis, const float* weights);

}  // namespace mokume::svc
