// All plots of a run.
#pragma once

#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// Box plots and heat maps by the rule in charts/figure.hpp, or bars of candidates, where there are candidates and a
// metric that selects; then the curves of fits, refit and members, if there are any. A function of plan, metrics,
// records, refits, vote and best only, not of devices or times.
std::vector<NamedFile> plots(const RunView& view);

}  // namespace mokume::report
