// Which candidates of a bootstrap may still turn out the best, by the fits that are done. A guess, for the order of
// work alone: what is refitted in the end is chosen by the results of all fits.
#pragma once

#include <cstdint>
#include <map>

namespace mokume::scheduler {

class Contenders {
 public:
  // Every candidate has `folds` fits.
  explicit Contenders(uint32_t folds) : folds_(folds) {}

  // Takes the value of one fit by which the best candidate will be chosen: smaller is better. A fit that failed, and
  // what is not a number, is as bad as can be.
  void score(uint32_t bootstrap, uint32_t candidate, double loss);

  bool has_seen(uint32_t bootstrap, uint32_t candidate) const;

  // No fit of it is done yet, or its best is no worse than the worst of the candidate that is ahead by its mean; once
  // all fits of both are done, nobody may win but who is ahead.
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
