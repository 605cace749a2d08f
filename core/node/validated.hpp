// Computes measures from the predictions and scores of the rows that a fit validates.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "data/measures.hpp"
#include "node/prediction.hpp"

namespace mokume::node {

// Returns one value per row and class, larger for the more likely class: probabilities, the decision values of
// one-vs-rest or, for one-vs-one, the votes of the pairs, with ties broken by their decision values (as in
// scikit-learn's decision_function). The values are NaN for a row whose log-probabilities are not finite. The result is
// empty if the kind of scores is unknown. `scores` is rows x scores per row.
std::vector<double> class_values(mk_score_kind kind, std::span<const float> scores, size_t classes);

// Throws Error(MK_INTERNAL) if the rows that a model reported are inconsistent. `classes` is 0 for a regression.
void check(const mk_validated& rows, int64_t n, const data::Table& train, size_t classes);

// Returns the `wanted` measures of a fit's validated rows, which check() has passed. A measure without a value (a class
// that does not occur has no AUC) is NaN.
std::vector<double> measured(const mk_validated& rows, int64_t n, const data::Table& train, size_t classes,
                             std::span<const data::MeasureInfo> wanted);

// Returns every measure that has a value, by name.
std::map<std::string, double> all_measured(std::span<const int32_t> labels, const data::Confusion& confusion,
                                           mk_score_kind kind, std::span<const double> values);

}  // namespace mokume::node
