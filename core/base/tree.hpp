// Returns sizes and times of files and directories.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::base {

// Returns the total size of all files at and below `path`. Does not follow symbolic links; skips unreadable entries.
uint64_t tree_bytes(const std::string& path);

// Returns the modification time of a file or directory, in seconds since the epoch, or 0 if it cannot be read.
double written_s(const std::string& path);

}  // namespace mokume::base
