// Sentences about suspicious results of a finished run.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns each of these sentences at most once, in this order; empty if nothing is suspicious:
//   * the best candidate, or the test result, is no better than always giving the same answer;
//   * a training loss exploded but stayed finite: it ends above 10 times what a guess costs, which is log(classes) nats
//     for classes and RunView::guess for numbers;
//   * the best value of a grid's parameter is the first or the last of at least three, so that better values may lie
//     outside; not if another value of this parameter is as good.
std::vector<std::string> cautions(const RunView& view);

}  // namespace mokume::results
