// Writes texts that describe the experiment file: its JSON Schema, and a file to begin with.
#pragma once

#include <map>
#include <string>
#include "config/parameter.hpp"

namespace mokume::config {

std::string json_schema(const std::map<std::string, ModelSchema>& models);

// Lists every parameter of `model` with its default and meaning, and the tagged tables that it accepts. parse() accepts
// the file if every parameter has a default.
std::string starter_toml(const std::string& model, const ModelSchema& schema);

}  // namespace mokume::config
