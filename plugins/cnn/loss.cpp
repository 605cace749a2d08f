#include "loss.hpp"

#include "keys.hpp"
#include "sdk/error.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::cnn {

mk_param loss_param() {
  return text("loss", "\"auto\"", "auto|cross_entropy|nll|mse",
              "auto: cross_entropy for classes, mse for numbers; nll: cross_entropy after a log_softmax layer");
}

Loss loss_of(const std::string& name, bool classifies, const std::string& last_layer) {
  const Loss suited = classifies ? Loss::cross_entropy : Loss::mse;
  if (name == "auto") return suited;
  const Loss loss = name == "mse" ? Loss::mse : Loss::cross_entropy;
  if (loss != suited)
    throw Error(MK_INVALID_ARGUMENT,
                "loss = \"" + name + "\" needs " +
                    (classifies ? "a numeric target, but this data set has classes: use cross_entropy"
                                : "classes, but this data set has a numeric target: use mse"));
  if (name == "nll" && last_layer != "log_softmax")
    throw Error(MK_INVALID_ARGUMENT,
                "loss = \"nll\" needs a log_softmax layer at the end of the network: add one, or use "
                "cross_entropy");
  return loss;
}

mk_op loss_op(Loss loss, const mk_tensor& outputs, const mk_tensor& target, const mk_tensor& index, double scale,
              const mk_tensor& results, const mk_tensor& gradient) {
  return loss == Loss::mse ? ops::squared_loss(outputs, target, index, scale, results, gradient)
                           : ops::softmax_loss(outputs, target, index, scale, results, gradient);
}

}  // namespace mokume::cnn
