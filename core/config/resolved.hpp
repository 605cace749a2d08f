// Values and a checked config as text: JSON, TOML, the resolved file, and the JSON that the plan hash depends on.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include "config/config.hpp"
#include "config/parameter.hpp"

namespace mokume::config {

Json json_of(const search::Value& value);
Json json_of(const Field& field);
Json json_of(const TaggedTables& tagged);
Json json_of(const search::Space& space);

// Writes every key with its value as TOML, including defaults. parse() reads it back to the same Config.
std::string to_toml(const Config& config);

// Returns canonical JSON (sorted keys, no spaces) of everything that affects fits: all but the name, devices, memory,
// plugin directories and output. The seed has no leading zeros.
std::string canonical_json(const Config& config);

}  // namespace mokume::config
