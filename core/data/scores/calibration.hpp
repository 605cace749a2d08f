// Converts decision values to probabilities.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mokume::data {

// p(decision) = 1 / (1 + exp(a * decision + b)). A negative `a` means that larger decisions are more likely positive.
struct Sigmoid {
  double a = 0, b = 0;

  double operator()(double decision) const;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("a", self.a);
    field("b", self.b);
  }
};

// Fits the sigmoid by maximum likelihood, to targets that one additional row of each class moves away from 0 and 1
// (Platt, Advances in Large Margin Classifiers, 1999), using Newton's method with backtracking (Lin, Lin and Weng,
// Machine Learning 68, 2007). `positive` has one entry per decision. Without rows of both classes, it is constant.
Sigmoid fit_sigmoid(std::span<const double> decisions, const std::vector<bool>& positive);

// Combines the probabilities of pairs of classes: pairs[k] is the probability of the first class in the k-th of the
// pairs (0,1), (0,2), ..., (1,2), ... Returns one probability per class; they sum to 1. Wu, Lin and Weng, JMLR 5, 2004,
// second approach.
std::vector<double> couple_pairs(std::span<const double> pairs, size_t classes);

}  // namespace mokume::data
