// Lets a model make a list of tables from the tables in the file (mk_model.expand).
#pragma once

#include <optional>

#include "config/parameter.hpp"
#include "config/parse.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Returns the list of `parameter`, whose values keep their locations in the file. Returns nothing and adds diagnostics
// if the model finds problems. `options` is [model_options], and `searched` is
// [search.params], or null if there are none. Throws Error(MK_DEVICE_ERROR) if the answer is invalid.
std::optional<Node> expanded(const Parameter& parameter, const Node& options, const Node* searched, Origin origin,
                             Diagnostics& diagnostics);

}  // namespace mokume::config
