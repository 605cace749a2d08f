// The normal distribution: its share below a number, and the inverse.
#pragma once

namespace mokume::cnn {

double normal_share(double x);
// For p in (0, 1): Wichura, Algorithm AS 241: The percentage points of the normal distribution, 1988. Within 1e-15,
// relative.
double normal_quantile(double p);

}  // namespace mokume::cnn
