// Describes suspicious results of a finished run.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns a sentence for each of these findings, in this order:
//   * The best candidate is not better than always giving the same answer by one standard error of its mean, the test
//     result is no better than that, or the model gives all test rows the same class.
//   * A training loss exploded but stayed finite: it ends above 10 times the loss of a guess, which is log(classes)
//     nats for classes and RunView::guess for numbers.
//   * The best candidate is ill-determined (sdk/ill_determined.hpp).
//   * The best value of a grid's parameter is the first or the last of at least three, so that better values may lie
//     outside, and no other value of this parameter is as good.
std::vector<std::string> cautions(const RunView& view);

}  // namespace mokume::results
