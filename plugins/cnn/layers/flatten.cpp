// flatten: takes images for rows of features. Nothing moves: the shape remembers the image, since PyTorch orders the
// inputs of a linear layer by it.
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Flatten : public Layer {
 public:
  Flatten(const Values&, Plan& plan) : Layer(plan) {
    runs = false;
    out.flat = true;
  }
};

}  // namespace

extern constinit const LayerType kFlatten = layer_type<Flatten>("flatten", "images as plain rows");

}  // namespace mokume::cnn
