// Keeps the steps of the best candidate, such as the layers of its network, for the report.
#pragma once

#include <optional>
#include <string>

#include "results/view.hpp"

namespace mokume::run {

// Write and read structure.json. The reader returns nothing if there is no such file, and throws Error(MK_BAD_DATA)
// that names a damaged file.
void keep_structure(const std::string& run_directory, const results::Structure& structure);
std::optional<results::Structure> read_structure(const std::string& run_directory);

}  // namespace mokume::run
