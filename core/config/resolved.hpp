// A checked config as text: the resolved file, and the JSON that the plan's hash depends on.
#pragma once

#include <string>

#include "config/config.hpp"

namespace mokume::config {

// Every key with its value as TOML, defaults written out. parse() reads it back to the same Config.
std::string to_toml(const Config& config);

// Canonical JSON (keys sorted, no spaces) of all that a fit depends on, so without the name, devices, memory, plugin
// directories and output. The seed stands without leading zeros.
std::string canonical_json(const Config& config);

}  // namespace mokume::config
