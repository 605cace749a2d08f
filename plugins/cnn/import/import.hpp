// Imports ONNX files of other programs as layers and weights (docs/adr/0038).
#pragma once

#include <functional>
#include <string>

#include "abi/model.h"

namespace mokume::cnn {

// Implements mk_model.import_onnx. Writes DIRECTORY/weights.safetensors.
void import_onnx(const std::string& path, const std::string& directory,
                 const std::function<void(const mk_imported&)>& take);

}  // namespace mokume::cnn
