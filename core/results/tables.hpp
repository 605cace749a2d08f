// Writes the tables of a run directory. CSV files have RFC 4180 quoting, lines that end in \n, and shortest round-trip
// doubles. A value that does not exist (a metric of a failed fit, the mean of an incomplete candidate) is an empty
// cell, and a metric that is not finite is nan, inf or -inf.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::results {

std::string results_csv(const RunView& view);
std::string candidates_csv(const RunView& view);

// Returns a row for each member of an ensemble: the choice of its bootstrap, the means of its metrics over the folds,
// and the test result of its refit.
std::string ensemble_csv(const RunView& view);

// Returns a row for each epoch of each fit and refit, with the curves that models report, such as the training loss;
// the fold of a refit is the word refit. Leaves out fits of lower rank beyond about 4 MiB, because the journal has them
// all. Returns "" if there are no curves.
std::string epochs_csv(const RunView& view);

// Times are in seconds from the earliest start.
std::string timeline_csv(const RunView& view);

// The seed is text, because it may have any number of digits. `fits` counts the records, `fits_planned` the fits of the
// plan. `best` refers to all folds of all bootstraps; in a plan without validation, which has no fits, its `mean` is
// null. `fit_s` is the working time of devices. The intervals of a device's fits count as their union, because the fits
// of a bundle share the bundle's time. A number that is not finite is null, and bytes that are not UTF-8 become U+FFFD.
// `test` holds the measures of data::MeasureInfo that have a value, the scores of each class and the confusion matrix
// (rows: class, columns: predicted class), in label order. `speeds` tells whether the speeds for `efficiency` were
// measured before the run or estimated from it.
std::string summary_json(const RunView& view);

// Writes the tables of a run directory, each file atomically. Equal views give byte-identical files. Throws
// sdk::storage_error() if a file cannot be written.
void write_tables(const RunView& view, const std::string& directory);

}  // namespace mokume::results
