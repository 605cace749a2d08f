// Chooses trials: of the candidates of a plan, only some are computed, each chosen by the results of earlier ones.
#pragma once

#include <cstdint>
#include <vector>

#include "search/plan.hpp"

namespace mokume::search {

// Chooses by a tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kegl, NIPS 2011) with kernels over all
// parameters at once (Falkner, Klein and Hutter, ICML 2018). The best results and the others make one density each; the
// next trial is the candidate at which their ratio is largest; of more than 2048 candidates, each trial compares 2048.
// All functions are pure and may be called by any thread. A choice takes time in proportion to the results and
// candidates.
class TrialChooser {
 public:
  // Chooses among the candidates of one bootstrap. `spaces` are those from which the plan drew its candidates.
  TrialChooser(const std::vector<Space>& spaces, const Plan& plan, uint32_t bootstrap, uint64_t seed);

  struct Result {
    uint32_t candidate = 0;
    double loss = 0;  // smaller is better; infinity if the candidate failed
  };
  // Returns the candidate of the next trial. `results` are in the order of the trials; `pending` are the trials after
  // them, whose results do not count yet. Expects that a candidate is left.
  uint32_t next(const std::vector<Result>& results, const std::vector<uint32_t>& pending) const;

 private:
  class Density;
  void place(const std::vector<Space>& spaces, const Plan& plan);
  const double* places(uint32_t candidate) const {
    return places_.data() + size_t{candidate - first_} * values_.size();
  }

  uint32_t first_, count_;        // the candidates
  std::vector<uint32_t> values_;  // for each parameter, the number of its values if they have no order, or else 0
  // By candidate and parameter: a value without order has its index; another one lies between 0 and 1. NaN if the
  // parameter does not count.
  std::vector<double> places_;
  std::vector<uint32_t> order_;  // all candidates, in the random order in which the first trials take them
};

}  // namespace mokume::search
