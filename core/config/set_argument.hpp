// The --set arguments of a command line.
#pragma once

#include <cstdint>
#include <string>

#include "config/tree.hpp"

namespace mokume::config {

// Applies `argument` (a.b.c=VALUE, the set-th --set argument) to the tree; a[2] is an element of a list, from 0. VALUE
// is TOML; what is not TOML and does not begin like a quoted text, list or table is taken as a text.
void apply_set(Node& root, const std::string& argument, uint32_t set, Diagnostics& diagnostics);

}  // namespace mokume::config
