// Orders the training rows on the device, and selects the rows of a binary problem.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "settings.hpp"

namespace mokume::svc {

inline constexpr int64_t kBlock = 16;  // number of rows in a block

// Holds the places of a bootstrap's sample, sorted by (fold, class, place). The rows of a fold are contiguous, and so
// are the rows of a class within a fold. Rows that no fold validates (fold -1) come first; every fit trains on them.
class RowOrder {
 public:
  RowOrder(const mk_experiment& experiment, uint32_t bootstrap);

  int64_t rows() const { return static_cast<int64_t>(original_.size()); }
  int64_t stride() const { return (rows() + kBlock - 1) / kBlock * kBlock; }  // number of rows, rounded up to blocks
  bool regression() const { return classes_ == 0; }
  int64_t features() const { return features_; }
  int32_t classes() const { return classes_; }
  uint32_t folds() const { return static_cast<uint32_t>(fold_begin_.size()) - 1; }
  int64_t original(int64_t row) const { return original_[static_cast<size_t>(row)]; }
  const int64_t* originals(uint32_t fold) const { return original_.data() + fold_begin(fold); }
  int32_t label(int64_t row) const { return labels_[static_cast<size_t>(row)]; }  // 0 for a regression
  double weight(int64_t row) const { return weights_.empty() ? 1 : double{weights_[static_cast<size_t>(row)]}; }
  int64_t fold_begin(uint32_t fold) const { return fold_begin_[fold]; }
  int64_t fold_rows(uint32_t fold) const { return fold_begin_[fold + 1] - fold_begin_[fold]; }

  // Return the targets of a regression minus target_mean(), and the weights: one value per row, or none.
  const std::vector<float>& targets() const { return targets_; }
  const std::vector<float>& weights() const { return weights_; }
  double target_mean() const { return target_mean_; }
  double largest_target() const { return largest_target_; }  // largest absolute value in targets()
  // Returns the standard deviation of the targets that a fit of this fold trains on, or 1 if all are equal.
  double target_deviation(int32_t fold) const;

  // Returns stride() values: `values`, padded with `otherwise`.
  std::vector<float> padded(std::vector<float> values, float otherwise) const {
    values.resize(static_cast<size_t>(stride()), otherwise);
    return values;
  }

 private:
  void take_targets(const mk_data& data);
  void take_weights(const mk_data& data);

  int64_t features_ = 0;
  int32_t classes_ = 0;
  std::vector<int64_t> original_;
  std::vector<int32_t> labels_;
  std::vector<float> targets_, weights_;
  double target_mean_ = 0, largest_target_ = 0;
  std::vector<int64_t> fold_begin_;  // has folds + 1 values
};

// Separates class `positive` from class `negative`, or from all others if `negative` is kRest. If `negative` is
// kOrigin, the problem separates the rows of all classes from the origin. Trains on every fold except `fold`, or on
// every row if `fold` is MK_ALL_ROWS.
struct BinaryProblem {
  static constexpr int32_t kRest = -1, kOrigin = -2;
  int32_t fold = MK_ALL_ROWS;
  int32_t positive = 0;
  int32_t negative = kRest;
  double positive_weight = 1;  // C times this weight bounds the multipliers of the positive class
  double negative_weight = 1;

  // Returns the sign of the rows of `positive` in the dual problem. A loose tolerance admits many solutions, and the
  // sign influences which of them the solver finds. Users of LIBSVM label the class 1 and the rest 0, which makes the
  // rest LIBSVM's positive class (docs/adr/0007).
  int32_t sign() const { return negative == kRest ? -1 : 1; }

  // Returns the factor that makes the solution's decision values positive for class `positive` or, in a one-class
  // machine, for class 0, the rejected rows.
  int32_t decision_sign() const { return negative == kRest || negative == kOrigin ? -1 : 1; }
};

// Returns the binary problems of a fit in the order of its decision values: one per class, or one per pair in LIBSVM's
// order (0,1), (0,2), ... Two classes make one problem, in which class 0 is positive. A regression makes one problem.
std::vector<BinaryProblem> binary_problems(int32_t classes, Multiclass multiclass, int32_t fold);

// Returns the problems of a fit with these settings, and with the weights of its classes. A one-class machine has one
// problem; its classes are kRejected and kAccepted in this order, because the program sorts classes.
std::vector<BinaryProblem> weighted_problems(int32_t classes, const Settings& settings, int32_t fold);

// Returns the class that the decision values of binary_problems() predict. The largest value (one-vs-rest) or the most
// votes (one-vs-one) decide; ties go to the lower class.
int32_t predict_class(const float* decisions, int32_t classes, Multiclass multiclass);

// Returns the class for a machine of this kind. As in LIBSVM, a one-class machine rejects a row whose decision value is
// 0.
int32_t predict_class(const float* decisions, int32_t classes, const Settings& settings);

// Returns whether a change of each decision value by up to `open` could change the predicted class.
bool is_unsure(const float* decisions, int32_t classes, Multiclass multiclass, float open);

// Returns the meaning of the decision values.
mk_score_kind score_kind(Multiclass multiclass, int64_t classes);

inline constexpr int kMaxSpans = 64;  // must equal MAX_SPANS in kernels/places.cl

// Sets sign[row] to +1, -1 or 0 for stride() rows; the rows of a regression have the sign +1. Writes fewer than
// kMaxSpans ranges of blocks that cover every row with a sign, and ends them with -1, -1. Returns the row where the
// solver starts, or -1 if there is none or for a regression. Of the rows of sign +1, which are all equal at the start,
// the solver starts at the last one in the order of the data, like LIBSVM.
int32_t mark_rows(const RowOrder& order, const BinaryProblem& problem, int8_t* sign, int32_t* spans);

}  // namespace mokume::svc
