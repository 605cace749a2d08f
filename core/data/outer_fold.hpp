// Holds out the outer folds of a nested cross-validation. Each is the test set of its own experiment, which tunes and
// trains on the remaining rows. See Varma and Simon, BMC Bioinformatics 7(91), 2006.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Returns the outer fold of each training row, counted from 0. Throws Error(MK_INVALID_ARGUMENT) if there are fewer
// rows or groups than folds.
std::vector<int32_t> assign_outer_folds(const OuterFold& outer, const Table& train);

// Returns a table of these rows, in this order.
Table rows_of(const Table& all, const std::vector<uint32_t>& rows);

// Replaces the test set with the rows of DataSpec::outer; the remaining training rows keep their order. The means over
// the remaining rows fill the missing cells of all rows. `gaps` holds the gaps of data.train, before and after the
// call. Throws like assign_outer_folds().
void hold_out(const OuterFold& outer, Dataset& data, std::vector<Gap>& gaps);

}  // namespace mokume::data
