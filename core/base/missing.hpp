// Says where the program looked for a path that does not exist.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace mokume::base {

// Returns the path of the working directory, or "" if it was removed.
inline std::string working_directory() {
  std::error_code unknown;
  const std::string directory = std::filesystem::current_path(unknown).string();
  return unknown ? "" : directory;
}

// Returns ", relative to the working directory /DIR" for a relative path, or "".
inline std::string relative_to(const std::string& path) {
  return path.starts_with('/') ? "" : ", relative to the working directory " + working_directory();
}

// Returns the cause of the failure `code` (an errno) to open a path. If the path does not exist, the text says where it
// was looked for.
inline std::string open_failure(const std::string& path, int code) {
  const std::string cause = std::generic_category().message(code);
  return code == ENOENT || code == ENOTDIR ? cause + relative_to(path) : cause;
}

}  // namespace mokume::base
