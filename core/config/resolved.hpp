// Converts values and a config to text: JSON, TOML, the resolved file, and the JSON that determines the plan hash.
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

// Writes all keys that apply and have a value, with defaults, as TOML. parse() reads the text back to the same values.
std::string to_toml(const Config& config);

// Returns canonical JSON (sorted keys, no spaces) of the keys that fits depend on, the searched parameters and the
// model's options. Omits newer keys that preserve the behaviour of older versions. The seed has no leading zeros.
std::string canonical_json(const Config& config);

}  // namespace mokume::config
