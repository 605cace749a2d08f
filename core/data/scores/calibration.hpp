// Probabilities from decision values.
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

// Fits the sigmoid by maximum likelihood, with targets that are moved away from 0 and 1 by one row of each class
// (Platt, Advances in Large Margin Classifiers, 1999), by Newton's method with backtracking (Lin, Lin and Weng, Machine
// Learning 68, 2007). `positive` has one entry per decision. Without rows of both classes, the sigmoid is constant.
Sigmoid fit_sigmoid(std::span<const double> decisions, const std::vector<bool>& positive);

// Combines the probabilities of pairs of classes: pairs[k] is that of the first class of the pairs (0,1), (0,2), ...,
// (1,2), ... Returns one probability per class; they sum to 1. Wu, Lin and Weng, JMLR 5, 2004, second approach.
std::vector<double> couple_pairs(std::span<const double> pairs, size_t classes);

}  // namespace mokume::data
