// Reads one value of a parameter. A reader adds a diagnostic at the value and returns nothing if the value is invalid.
#pragma once

#include <optional>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Reads a parameter with a single value. Only a selection may be written as a list.
std::optional<search::Value> read_value(const Parameter& parameter, const Node& node, Diagnostics& diagnostics);

// Reads a key of the file, whose value may have any type of a member of Config. Returns null if the value is invalid.
Json read_setting(const Parameter& key, const Node& node, Diagnostics& diagnostics);

// Returns the model's default as a node, or nothing if there is none. Throws Error(MK_DEVICE_ERROR) if it is not TOML.
std::optional<Node> default_node(const Parameter& parameter);

// Returns the model's default, or nothing if there is none. Throws Error(MK_DEVICE_ERROR) if it is invalid.
std::optional<search::Value> default_value(const Parameter& parameter);

// Throws an error about an invalid default, with the first message in `diagnostics`.
[[noreturn]] void throw_bad_default(const Parameter& parameter, Diagnostics diagnostics);

}  // namespace mokume::config
