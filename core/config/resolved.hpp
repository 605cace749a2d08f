// A checked config as text: the resolved file, and the JSON that the plan hash depends on.
#pragma once

#include <string>

#include "config/config.hpp"

namespace mokume::config {

// Writes every key with its value as TOML, including defaults. parse() reads it back to the same Config.
std::string to_toml(const Config& config);

// Returns canonical JSON (sorted keys, no spaces) of everything that affects fits: all but the name, devices, memory,
// plugin directories and output. The seed has no leading zeros.
std::string canonical_json(const Config& config);

}  // namespace mokume::config
