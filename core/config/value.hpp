// Reads one value of a parameter. Each function adds a diagnostic at the value and returns nothing if the value will
// not do.
#pragma once

#include <optional>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// A parameter of one value: neither a list nor a table.
std::optional<search::Value> read_value(const Parameter& parameter, const Node& node, Diagnostics& diagnostics);

// A key of the file, of any type that a member of Config holds; null if the value will not do.
Json read_setting(const Parameter& key, const Node& node, Diagnostics& diagnostics);

// The node of the default that a model publishes; nothing if it has none. Throws Error(MK_DEVICE_ERROR) if it is no
// TOML.
std::optional<Node> default_node(const Parameter& parameter);

// The default that a model publishes; nothing if it has none. Throws Error(MK_DEVICE_ERROR) if it is not valid.
std::optional<search::Value> default_value(const Parameter& parameter);

// A default that is not valid, for the first reason in `diagnostics`.
[[noreturn]] void throw_bad_default(const Parameter& parameter, Diagnostics diagnostics);

}  // namespace mokume::config
