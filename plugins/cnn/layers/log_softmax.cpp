// log_softmax does nothing, because the loss and the predictions of a classifier compute the log-probabilities.
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class LogSoftmax : public Layer {
 public:
  LogSoftmax(const Values&, LayerPlan& plan) : Layer(plan) {
    runs = false;
    if (!plan.last) plan.refuse("it is not the last layer", "move it to the end");
    if (!plan.classifies) plan.refuse("only a classifier can use it", "remove it");
  }
};

}  // namespace

extern constinit const LayerType kLogSoftmax =
    layer_type<LogSoftmax>("log_softmax", "the logarithm of softmax; optional at the end of a classifier");

}  // namespace mokume::cnn
