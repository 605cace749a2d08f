// Implements the option `augment`, random changes of training images. Names and defaults follow torchvision.
#pragma once

#include <string>

#include "abi/model.h"
#include "layers/parameter.hpp"
#include "sdk/ops/augment.hpp"

namespace mokume::cnn {

mk_param augment_param();

// Reads the list of changes. Their order has no effect, because the op has a fixed order. Leaves the image sides at 1.
// Throws Error(MK_INVALID_ARGUMENT) if a change occurs twice, and nlohmann::json::exception.
ops::Augment augment_of_option(const std::string& json);

// Returns the changes for images of this shape. Throws Error(MK_INVALID_ARGUMENT) if the rows are not images, or if a
// change needs colours and they have none.
ops::Augment augment_for(ops::Augment augment, const Shape& input);

}  // namespace mokume::cnn
