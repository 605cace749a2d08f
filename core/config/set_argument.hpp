// The --set arguments of the command line.
#pragma once

#include <cstdint>
#include <string>

#include "config/tree.hpp"

namespace mokume::config {

// Applies `argument` (a.b.c=VALUE, the set-th --set argument) to the tree; a[2] is an element of a list, counted from
// 0. VALUE is TOML, or a text if it is not TOML and does not begin like a quoted text, list or table.
void apply_set(Node& root, const std::string& argument, uint32_t set, Diagnostics& diagnostics);

}  // namespace mokume::config
