// Writes values as JSON and as TOML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/parameter.hpp"

namespace mokume::config {

Json json_of(const search::Value& value);
Json json_of(const Field& field);
Json json_of(const TaggedTables& tagged);
Json json_of(const search::Space& space);

// Writes a list of tables with one line per table. Reals have a point or an exponent, so that TOML reads them as reals.
std::string toml_of(const Json& value);

}  // namespace mokume::config
