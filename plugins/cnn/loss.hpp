// Losses: the key that names one, which data it is for, and its op.
#pragma once

#include <string>

#include "abi/model.h"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

enum class Loss { cross_entropy, mse };

mk_param loss_param();

// "auto" follows the data. Error(MK_INVALID_ARGUMENT) if the loss is for other data, or if it is nll and the last layer
// is no log_softmax.
Loss loss_of(const std::string& name, bool classifies, const std::string& last_layer);

// The name that saved models have for it.
inline const char* name_of(Loss loss) { return loss == Loss::mse ? "mse" : "cross_entropy"; }

// Loss and hit of each row go to `results`: rows x 2. `target`: labels, or numbers, of all rows, of which `index` names
// those of `outputs`. The gradient is multiplied by `scale`; {} if it is not wanted.
mk_op loss_op(Loss loss, const mk_tensor& outputs, const mk_tensor& target, const mk_tensor& index, double scale,
              const mk_tensor& results, const mk_tensor& gradient);

}  // namespace mokume::cnn
