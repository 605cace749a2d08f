// Test rows that show what an ensemble is sure of, what it is not, and where it errs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
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

nlohmann::ordered_json exemplars_to_json(const std::vector<report::Exemplar>& exemplars);
// Error(MK_BAD_DATA) that names the field.
std::vector<report::Exemplar> exemplars_from_json(const nlohmann::json& list, const std::vector<std::string>& classes);

}  // namespace mokume::run
