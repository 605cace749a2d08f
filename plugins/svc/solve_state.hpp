// Describes solved and unfinished problems on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace mokume::svc {

// Holds the outcome of a solved problem without its coefficients.
struct Solution {
  float rho = 0;  // decision = sum of coefficient * kernel - rho
  int64_t steps = 0;
  int64_t vectors = 0;  // number of support vectors
  int64_t at_c = 0;     // number of support vectors at C; if 0, this solution holds for every larger C
  bool capped = false;  // whether the solver stopped before it converged
};

// Lists the status values of kernels/places.cl.
enum : int32_t { kRunning = 0, kConverged = 1, kNeed = 2, kStart = 3, kStuck = 4, kHandedOver = 5 };

// Holds what a solver knows of a problem between two calls of advance(), except what start() sets. The arrays hold the
// rows of the problem's spans; see kernels/places.cl for the other members.
struct SolveState {
  int32_t status = kRunning, best = -1, need = -1, steps_left = 0;
  float up = 0, low = 0, up_rest = 0, rounding = 0;
  int64_t steps = 0;
  std::vector<int32_t> flags;
  std::vector<float> f, a;
  // A round of the blocked solver that continues with the next launch; else empty. See kernels/blocked.cl.
  std::vector<int32_t> members;
  std::vector<float> inner;
  // The blocked solver counts its poor rounds in a row, or, below 0, the steps of the round that continues.
  int32_t poor_rounds = 0;
};

}  // namespace mokume::svc
