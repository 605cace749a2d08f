// A checked config as text: the resolved file, and the JSON that the plan hash depends on.
#pragma once

#include <string>

#include "config/config.hpp"

namespace mokume::config {

// Writes every key with its value as TOML, including defaults. parse() reads it back to the same Config.
std::string to_toml(const Config& config);

// Canonical JSON (sorted keys, no spaces) of everything that fits depend on; so not the name, devices, memory, plugin
// directories and output. The seed is written without leading zeros.
std::string canonical_json(const Config& config);

}  // namespace mokume::config
