// Losses: their names, the data they apply to, and their ops.
#pragma once

#include <string>

#include "abi/model.h"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

enum class Loss { cross_entropy, mse };

mk_param loss_param();

// "auto" selects by the data. Throws Error(MK_INVALID_ARGUMENT) if the loss does not apply to the data, or if it is nll
// and the last layer is not log_softmax.
Loss loss_of(const std::string& name, bool classifies, const std::string& last_layer);

// Returns the name of the loss in saved models.
inline const char* name_of(Loss loss) { return loss == Loss::mse ? "mse" : "cross_entropy"; }

// Writes loss and hit of each row to `results`: rows x 2. `target` holds the labels or numbers of all rows; `index`
// selects those of `outputs`. The gradient is multiplied by `scale`; pass {} if it is not needed.
mk_op loss_op(Loss loss, const mk_tensor& outputs, const mk_tensor& target, const mk_tensor& index, double scale,
              const mk_tensor& results, const mk_tensor& gradient);

}  // namespace mokume::cnn
