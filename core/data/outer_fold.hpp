// Holds out the outer folds of a nested cross-validation. Each is the test set of its own experiment, which tunes and
// trains on the remaining rows. See Varma and Simon, BMC Bioinformatics 7(91), 2006.
#pragma once

#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Replaces the test set with the rows of DataSpec::outer; the remaining training rows keep their order. The means over
// the remaining rows fill the missing cells of all rows. `gaps` holds the gaps of data.train, before and after the
// call. Throws Error(MK_INVALID_ARGUMENT) if there are fewer rows than folds.
void hold_out(const OuterFold& outer, Dataset& data, std::vector<Gap>& gaps);

}  // namespace mokume::data
