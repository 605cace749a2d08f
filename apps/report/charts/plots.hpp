// All plots of a run.
#pragma once

#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

// Returns box plots and heat maps by the rule in charts/figure.hpp, or bars of candidates, if there are candidates and
// a selecting metric; then the curves of fits, refit and members, if any. Depends only on plan, metrics, records,
// refits, vote and best, not on devices or times.
std::vector<NamedFile> plots(const results::RunView& view);

}  // namespace mokume::report
