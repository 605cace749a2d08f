// Chooses test rows that show where an ensemble is certain, where it is uncertain, and where it is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "results/view.hpp"

namespace mokume::run {

// Returns the entropy of the members' mean certainty per row, in nats. `certainty` is rows x classes, summed over
// members.
std::vector<double> doubts(std::span<const double> certainty, size_t classes);

// Chooses up to four rows of each kind: correct rows with the lowest doubts(), wrong rows with the lowest, and other
// rows with the highest. Ties go to the first rows. `certainty` is that of doubts(); `vote` holds the winning class of
// each row. Leaves the certainties of single members empty.
std::vector<results::Exemplar> choose_exemplars(const data::Dataset& data, std::span<const double> certainty,
                                                std::span<const size_t> vote);

// Shrinks a picture of width * height grey values: each pixel is the mean of a square of source pixels, as small as
// results::kThumbnailSide allows.
results::Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey);

// Throws Error(MK_BAD_DATA), naming the field, if an exemplar from a file is invalid.
void check(const results::Exemplar& exemplar, size_t classes);

}  // namespace mokume::run
