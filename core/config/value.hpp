// Reads one value of a parameter. Each function adds a diagnostic at the value and returns nothing if it is invalid.
#pragma once

#include <optional>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Reads a parameter with a single value: neither a list nor a table.
std::optional<search::Value> read_value(const Parameter& parameter, const Node& node, Diagnostics& diagnostics);

// Reads a key of the file, of any type that a member of Config can hold; null if the value is invalid.
Json read_setting(const Parameter& key, const Node& node, Diagnostics& diagnostics);

// Returns the model's default as a node; nothing if it has none. Throws Error(MK_DEVICE_ERROR) if it is not valid TOML.
std::optional<Node> default_node(const Parameter& parameter);

// Returns the model's default; nothing if it has none. Throws Error(MK_DEVICE_ERROR) if it is invalid.
std::optional<search::Value> default_value(const Parameter& parameter);

// Reports an invalid default with the first message in `diagnostics`.
[[noreturn]] void throw_bad_default(const Parameter& parameter, Diagnostics diagnostics);

}  // namespace mokume::config
