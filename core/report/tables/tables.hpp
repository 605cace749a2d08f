// The tables of a run directory. CSV: RFC 4180 quoting, lines end in \n, doubles shortest round-trip; a value that does
// not exist (a metric of a failed fit, the mean of an incomplete candidate) is an empty cell, and a metric that is not
// finite is written as nan, inf or -inf.
#pragma once

#include <string>

#include "report/view.hpp"

namespace mokume::report {

std::string results_csv(const RunView& view);
std::string candidates_csv(const RunView& view);

// A row for each member of an ensemble: what its bootstrap chose, the means of its metrics over the folds, and its
// result on the test rows after its refit.
std::string ensemble_csv(const RunView& view);

// Counts seconds from the earliest start.
std::string timeline_csv(const RunView& view);

// The seed is text, as its digits may be any number; `fits` counts the existing records, `fits_planned` those of the
// plan; a plan without validation has one candidate and no fits, and `best` has null for its error; `best` refers to
// all folds of all bootstraps; `fit_s` is the time in which devices worked: per device the union of its fits'
// intervals, since the fits of a bundle share the bundle's time. A number that is not finite is null, and bytes that
// are no UTF-8 become U+FFFD. `speeds` tells whether `efficiency` rests on speeds that were measured before the run or
// estimated from it.
std::string summary_json(const RunView& view);

}  // namespace mokume::report
