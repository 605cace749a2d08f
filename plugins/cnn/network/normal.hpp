// Computes the cumulative normal distribution and its inverse.
#pragma once

namespace mokume::cnn {

double normal_share(double x);
// Expects p in (0, 1). The relative error is below 1e-15 (Wichura, Algorithm AS 241: The percentage points of the
// normal distribution, 1988).
double normal_quantile(double p);

}  // namespace mokume::cnn
