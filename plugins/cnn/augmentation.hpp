// The option `augment`: random changes of the images of training batches. Names and defaults are torchvision's.
#pragma once

#include <string>

#include "abi/model.h"
#include "layers/parameter.hpp"
#include "sdk/ops/augment.hpp"

namespace mokume::cnn {

mk_param augment_param();

// Reads the list of changes, whose order has no meaning: the op defines one. The sides of the images are left at 1.
// Throws Error(MK_INVALID_ARGUMENT) if a change is there twice, and nlohmann::json::exception.
ops::Augment augment_of_option(const std::string& json);

// The changes for images of this shape. Throws Error(MK_INVALID_ARGUMENT) if the rows are no images, or have no colours
// although a change needs them.
ops::Augment augment_for(ops::Augment augment, const Shape& input);

}  // namespace mokume::cnn
