// Outer folds of a nested cross-validation: each is the test set of an experiment of its own, which tunes and trains on
// the remaining rows. Varma and Simon, BMC Bioinformatics 7(91), 2006.
#pragma once

#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Makes the rows of DataSpec::outer the test set, in place of any other; the remaining training rows keep their order.
// Missing cells of all rows are filled by the remaining rows. `gaps` are those of data.train, before and after. Throws
// Error(MK_INVALID_ARGUMENT) if there are fewer rows than folds.
void hold_out(const OuterFold& outer, Dataset& data, std::vector<Gap>& gaps);

}  // namespace mokume::data
