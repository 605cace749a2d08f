// Divides the counted energy of attempts among their fits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the joules of each fit, indexed like `records`, or nothing for a fit on a device without a counter. A fit has
// an equal part of the energy that its attempt had used when it reported its last fit.
std::vector<std::optional<double>> energy_by_fit(const std::vector<journal::FitRecord>& records);

struct Energy {
  double joules = 0;
  size_t counted = 0, all = 0;  // number of fits and refits with a known energy, and of all
};
// Returns the sum over all fits and refits, without attempts that have no result.
Energy energy_of(const RunView& view);

// Returns a text such as "12.3 kJ".
std::string energy_text(double joules);

}  // namespace mokume::results
