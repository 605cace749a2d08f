// Computes the multipliers with which LIBSVM starts the problems that have the parameter nu.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rows.hpp"

namespace mokume::svc {

// Holds the multipliers of one side as pairs of floats, stride() of each. Side 0 has the rows of sign +1 and side 1
// those of sign -1. A regression has a multiplier of each side for every row: the one that raises the prediction is on
// side 0.
struct SideMultipliers {
  std::vector<float> high, low;
};

// Returns LIBSVM's starting point. The sum of the multipliers of each side, which nu determines, never changes; LIBSVM
// raises the multipliers of the first rows to their bound `c` times the weight of the row.
std::array<SideMultipliers, 2> nu_start(const RowOrder& order, const BinaryProblem& problem, Kind kind, double nu,
                                        double c);

// Returns why no nu-SVC with this nu exists, in one sentence, or "".
std::string why_infeasible(const RowOrder& order, const BinaryProblem& problem, double nu);

// Returns why a fit of this fold has no solution with this nu, or "".
std::string why_infeasible(const RowOrder& order, const Settings& settings, int32_t fold, double nu);

}  // namespace mokume::svc
