// The order of training rows on the device, and which of them a binary problem uses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "settings.hpp"

namespace mokume::svc {

inline constexpr int64_t kBlock = 16;  // rows are handled in blocks of 16

// The places of a bootstrap's sample sorted by (fold, class, place): a fold's rows are contiguous, and so are a class's
// within it. Rows that no fold validates (fold -1) come first and are always trained on.
class RowOrder {
 public:
  RowOrder(const mk_experiment& experiment, uint32_t bootstrap);

  int64_t rows() const { return static_cast<int64_t>(original_.size()); }
  int64_t stride() const { return (rows() + kBlock - 1) / kBlock * kBlock; }  // rows rounded up to blocks
  int64_t features() const { return features_; }
  int32_t classes() const { return classes_; }
  uint32_t folds() const { return static_cast<uint32_t>(fold_begin_.size()) - 1; }
  int64_t original(int64_t row) const { return original_[static_cast<size_t>(row)]; }
  int32_t label(int64_t row) const { return labels_[static_cast<size_t>(row)]; }
  int64_t fold_begin(uint32_t fold) const { return fold_begin_[fold]; }
  int64_t fold_rows(uint32_t fold) const { return fold_begin_[fold + 1] - fold_begin_[fold]; }

 private:
  int64_t features_ = 0;
  int32_t classes_ = 0;
  std::vector<int64_t> original_;
  std::vector<int32_t> labels_;
  std::vector<int64_t> fold_begin_;  // folds + 1
};

// Class `positive` against class `negative`, or against all others if negative is kRest, trained on every fold but
// `fold` (MK_ALL_ROWS: on every row).
struct BinaryProblem {
  static constexpr int32_t kRest = -1;
  int32_t fold = MK_ALL_ROWS;
  int32_t positive = 0;
  int32_t negative = kRest;

  // The sign of `positive`'s rows in the dual problem. A loose tolerance leaves room, which the solver fills one way or
  // the other, and the two classes do not play the same part in it; LIBSVM's users give it 0 for the rest and 1 for the
  // class, which makes the rest its positive class (docs/adr/0007).
  int32_t sign() const { return negative == kRest ? -1 : 1; }
};

// The binary problems of one fit, in decision order: per class, or per pair (0,1), (0,2), ..., LIBSVM's order. Two
// classes make one problem, class 0 positive.
std::vector<BinaryProblem> binary_problems(int32_t classes, Multiclass multiclass, int32_t fold);

// Class from the decision values of those problems: the largest (one-vs-rest), or most votes (one-vs-one); ties go to
// the lower class.
int32_t predict_class(const float* decisions, int32_t classes, Multiclass multiclass);

inline constexpr int kMaxSpans = 64;  // as in kernels/smo.cl

// sign[row] in {+1, -1, 0} for stride() rows, and up to kMaxSpans ranges of blocks that cover every row with a sign.
// Returns where the solver starts: the last row of sign +1 in the order of the data, as in LIBSVM (at the start all of
// them are equal; -1 if there is none).
int32_t mark_rows(const RowOrder& order, const BinaryProblem& problem, int8_t* sign, int32_t* spans);

}  // namespace mokume::svc
