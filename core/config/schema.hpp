// JSON Schema (draft 4) of experiment files, for editors.
#pragma once

#include <map>
#include <string>

#include "config/parameter.hpp"

namespace mokume::config {

std::string json_schema(const std::map<std::string, ModelSchema>& models);

}  // namespace mokume::config
