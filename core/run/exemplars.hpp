// Test rows that show what an ensemble is sure of, what it is not, and where it errs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "report/view.hpp"

namespace mokume::run {

// The entropy of the members' mean certainty, by row and in nats. `certainty`: rows x classes, sums over the members.
std::vector<double> doubts(std::span<const double> certainty, size_t classes);

// Up to four of each kind: right with the least entropy of the members' mean certainty, wrong with the least, and the
// others with the most; of equal ones the first rows. `certainty`: rows x classes, sums over the members; `vote`: by
// row. Without the members' own certainties.
std::vector<report::Exemplar> choose_exemplars(const data::Dataset& data, std::span<const double> certainty,
                                               std::span<const size_t> vote);

// Error(MK_BAD_DATA) names the field of an exemplar from a file that makes no sense.
void check(const report::Exemplar& exemplar, size_t classes);

}  // namespace mokume::run
