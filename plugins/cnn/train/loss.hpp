// Defines losses: their names, the data to which they apply, and their ops.
#pragma once

#include <string>

#include "abi/model.h"
#include "sdk/ops/loss.hpp"

namespace mokume::cnn {

// Networks learn classes or numbers.
enum class Loss { cross_entropy, mse };

// Determines how errors count in training. The initial values mean cross_entropy and mse.
struct LossForm {
  ops::SoftmaxForm softmax = {};
  ops::DistanceForm distance = {};
  mk_tensor weight = {};  // weight of each row of the target; {} if all are 1

  bool is_plain() const {
    return softmax.smoothing == 0 && softmax.gamma == 0 && distance.distance == ops::Distance::squared;
  }
};

mk_param loss_param();

// Returns the loss for a name; "auto" depends on the data. Throws Error(MK_INVALID_ARGUMENT) if the loss does not apply
// to the data, or if it is nll and the last layer is not log_softmax.
Loss loss_of(const std::string& name, bool classifies, const std::string& last_layer);

// Holds the keys of losses. label_smoothing is at least 0, and the other keys are above 0.
struct LossNumbers {
  double label_smoothing = 0, focal_gamma = 2, huber_delta = 1, smooth_l1_beta = 1;
};

// Throws Error(MK_INVALID_ARGUMENT) if the keys exclude each other or need classes. loss_of() must accept the name.
LossForm loss_form(const std::string& name, const LossNumbers& numbers, bool classifies);

// Returns the name that saved models use for this kind of loss.
inline const char* name_of(Loss loss) { return loss == Loss::mse ? "mse" : "cross_entropy"; }

// Writes the loss of each row, and whether its prediction is right, to `results` (rows x 2). For numbers, the mean
// square replaces the latter (see sdk/ops/loss.hpp). `target` holds the labels or numbers of all rows; `index` selects
// the rows of `outputs`. The gradient is multiplied by `scale`; pass {} if it is not needed.
mk_op loss_op(Loss loss, const mk_tensor& outputs, const mk_tensor& target, const mk_tensor& index, double scale,
              const mk_tensor& results, const mk_tensor& gradient, const LossForm& form = {});

}  // namespace mokume::cnn
