// Estimates which candidates of a bootstrap may still become the best, judging by the finished fits. The estimate only
// affects the order of work: the results of all fits decide which candidate is refitted.
#pragma once

#include <cstdint>
#include <map>

namespace mokume::scheduler {

class Contenders {
 public:
  // Every candidate has `folds` fits.
  explicit Contenders(uint32_t folds) : folds_(folds) {}

  // Records the loss of one fit, which determines the best candidate; smaller is better. A NaN counts as infinity, the
  // loss of a failed fit.
  void score(uint32_t bootstrap, uint32_t candidate, double loss);

  bool has_seen(uint32_t bootstrap, uint32_t candidate) const;

  // Returns true if the candidate has no finished fit yet, or if its best fit is no worse than the worst fit of the
  // leader, which has the best mean. Once all fits of both are done, only the leader may win.
  bool may_win(uint32_t bootstrap, uint32_t candidate) const;

 private:
  struct Losses {
    double best, worst, sum;
    uint32_t count;
    double mean() const { return sum / count; }
  };
  struct Bootstrap {
    std::map<uint32_t, Losses> candidates;
    Losses leader;
  };
  uint32_t folds_;
  std::map<uint32_t, Bootstrap> bootstraps_;
};

}  // namespace mokume::scheduler
