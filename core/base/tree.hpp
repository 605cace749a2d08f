// Directories with everything below them.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::base {

// Returns the size of all files at and below `path`. Symbolic links are not followed, and what cannot be read counts as
// nothing.
uint64_t tree_bytes(const std::string& path);

// Returns when a file or directory itself was last written, in seconds since the epoch; 0 if it cannot be read.
double written_s(const std::string& path);

}  // namespace mokume::base
