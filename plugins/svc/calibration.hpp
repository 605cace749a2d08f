// Converts decision values to probabilities (mk_model.calibrate and mk_model.probabilities).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/model.h"

namespace mokume::svc {

// Returns 1 / (1 + exp(s.a * decision + s.b)). If a is negative, larger decisions are more likely positive.
double sigmoid(const mk_sigmoid& s, double decision);

// Fits the sigmoid by maximum likelihood, using Newton's method with backtracking (Lin, Lin and Weng, Machine Learning
// 68, 2007). The targets are Platt's, slightly above 0 and slightly below 1 (Advances in Large Margin Classifiers,
// 1999). `positive` has one entry per decision. Without rows of both classes, the sigmoid is constant.
mk_sigmoid fit_sigmoid(std::span<const double> decisions, const std::vector<bool>& positive);

// Combines the probabilities of pairs of classes by the second approach of Wu, Lin and Weng, JMLR 5, 2004. pairs[k] is
// the probability of the first class in the k-th of the pairs (0,1), (0,2), ..., (1,2), ... Returns one probability per
// class; they sum to 1.
std::vector<double> couple_pairs(std::span<const double> pairs, size_t classes);

// Fits one sigmoid to each column of decision values.
void calibrate(const mk_validated& rows, int64_t n, size_t classes, mk_sigmoid* to);

// Writes one probability per class to `to`; they sum to 1.
void probabilities(std::span<const mk_sigmoid> sigmoids, mk_score_kind kind, const float* row, size_t classes,
                   double* to);

}  // namespace mokume::svc
