#include "train/loss.hpp"

#include <algorithm>
#include <array>

#include "keys.hpp"
#include "sdk/error.hpp"

namespace mokume::cnn {
namespace {

constexpr std::array<const char*, 4> kOfNumbers = {"mse", "huber", "l1", "smooth_l1"};

}  // namespace

mk_param loss_param() {
  return text("loss", "\"auto\"", "auto|cross_entropy|nll|mse|focal|huber|l1|smooth_l1",
              "auto: cross_entropy for classes, mse for numbers; nll: cross_entropy after a log_softmax layer; focal: "
              "cross_entropy in which easy rows count less");
}

Loss loss_of(const std::string& name, bool classifies, const std::string& last_layer) {
  const Loss suited = classifies ? Loss::cross_entropy : Loss::mse;
  if (name == "auto") return suited;
  const bool of_numbers = std::find(kOfNumbers.begin(), kOfNumbers.end(), name) != kOfNumbers.end();
  const Loss loss = of_numbers ? Loss::mse : Loss::cross_entropy;
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

LossForm loss_form(const std::string& name, const LossNumbers& n, bool classifies) {
  LossForm form;
  form.softmax = {n.label_smoothing, name == "focal" ? n.focal_gamma : 0};
  if (name == "huber") form.distance = {ops::Distance::huber, n.huber_delta};
  if (name == "smooth_l1") form.distance = {ops::Distance::smooth_l1, n.smooth_l1_beta};
  if (name == "l1") form.distance = {ops::Distance::smooth_l1, 0};
  if (n.label_smoothing > 0 && !classifies)
    throw Error(MK_INVALID_ARGUMENT,
                "label_smoothing needs classes, but this data set has a numeric target: remove it");
  if (n.label_smoothing > 0 && form.softmax.gamma > 0)
    throw Error(MK_INVALID_ARGUMENT, "label_smoothing and loss = \"focal\" exclude each other: remove one of them");
  return form;
}

mk_op loss_op(Loss loss, const mk_tensor& outputs, const mk_tensor& target, const mk_tensor& index, double scale,
              const mk_tensor& results, const mk_tensor& gradient, const LossForm& form) {
  return loss == Loss::mse
             ? ops::squared_loss(outputs, target, index, scale, results, gradient, form.weight, form.distance)
             : ops::softmax_loss(outputs, target, index, scale, results, gradient, form.weight, form.softmax);
}

}  // namespace mokume::cnn
