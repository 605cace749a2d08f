// Lists of tables that a model makes from the tables in the file (mk_model.expand).
#pragma once

#include <optional>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Returns the list of `parameter`, whose values have places in the file, or adds the problems that the model finds.
// `options` is [model_options]. Throws Error(MK_DEVICE_ERROR) if the model's answer is invalid.
std::optional<Node> expanded(const Parameter& parameter, const Node& options, Diagnostics& diagnostics);

}  // namespace mokume::config
