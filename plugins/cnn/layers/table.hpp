// All layers, as a file names them.
#pragma once

#include "layers/layer.hpp"

namespace mokume::cnn {

// The tables that [[model_options.layers]] may hold.
mk_param layers_param();

// Error(MK_BAD_DATA) for a type that is not there.
const LayerType& layer_type_of(const nlohmann::json& layer);

}  // namespace mokume::cnn
