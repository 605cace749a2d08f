// The experiment file that `mokume init` prints.
#pragma once

#include <string>

#include "config/parameter.hpp"

namespace mokume::config {

// Every parameter of `model` with its default and what it means, and what its tagged tables may be. parse() takes the
// file if every parameter has a default.
std::string starter_toml(const std::string& model, const ModelSchema& schema);

}  // namespace mokume::config
