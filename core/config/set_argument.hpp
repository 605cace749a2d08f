// Applies the --set arguments of the command line.
#pragma once

#include <cstdint>
#include <string>

#include "config/tree.hpp"

namespace mokume::config {

// Applies --set argument number `set`, a.b.c=VALUE, to the tree. a[2] is element 2 of a list, counted from 0. VALUE is
// TOML, or a text if it is not TOML and does not begin like a quoted text, a list or a table.
void apply_set(Node& root, const std::string& argument, uint32_t set, Diagnostics& diagnostics);

}  // namespace mokume::config
