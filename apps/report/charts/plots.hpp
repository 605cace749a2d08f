// Draws all plots of a run.
#pragma once

#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

// Returns heat maps and box plots by the rule in charts/figure.hpp, or bars of candidates, if there are candidates and
// a selecting metric. Also returns plots of curves, of members, of the confusion matrix and of predicted numbers, if
// the view has them. The plots do not depend on devices or times.
std::vector<NamedFile> plots(const results::RunView& view);

}  // namespace mokume::report
