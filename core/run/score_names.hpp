// Names the columns that `mokume predict` adds to the predicted classes.
#pragma once

#include <string>
#include <vector>

#include "abi/model.h"

namespace mokume::run {

// Names the scores of a single model after their mk_score_kind, so that nobody takes a decision value for a
// probability: probability_CLASS, decision_CLASS_vs_rest, decision_A_vs_B. Scores of unknown meaning get no names. If
// two pairs would get the same name (a and b_vs_c, a_vs_b and c), the names of all pairs end with the numbers of their
// classes, counted from 0 in label order: decision_a_vs_b_vs_c_0_3.
std::vector<std::string> score_names(mk_score_kind kind, const std::vector<std::string>& classes);

// Names the shares of an ensemble's votes: vote_share_CLASS.
std::vector<std::string> vote_share_names(const std::vector<std::string>& classes);

}  // namespace mokume::run
