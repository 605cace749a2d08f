// Lists all layers by their names in experiment files.
#pragma once

#include "layers/layer.hpp"

namespace mokume::cnn {

// Describes the tables that [[model_options.layers]] accepts.
mk_param layers_param();

// Throws Error(MK_BAD_DATA) for an unknown type.
const LayerType& layer_type_of(const nlohmann::json& layer);

}  // namespace mokume::cnn
