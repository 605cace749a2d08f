// The experiment file that `mokume init` prints.
#pragma once

#include <string>

#include "config/parameter.hpp"

namespace mokume::config {

// Lists every parameter of `model` with its default and meaning, and the tagged tables it accepts. parse() accepts the
// file if every parameter has a default.
std::string starter_toml(const std::string& model, const ModelSchema& schema);

}  // namespace mokume::config
