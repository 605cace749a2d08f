// Reads and writes files of caches that several processes may write at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mokume::opencl {

// Returns the SHA-256 of `text` as 64 hexadecimal digits.
std::string sha256(std::string_view text);

// Returns the contents, or nothing if the file cannot be read or is larger than `most_bytes`.
std::optional<std::string> read_file(const std::string& path, size_t most_bytes = size_t{1} << 28);

// Replaces the file atomically (with a private file next to it and a rename), so that readers see either the old or the
// new contents. Returns false on failure; a cache that cannot be written costs time, not correctness.
bool replace_file(const std::string& path, std::string_view content);

// Creates a private directory under `parent` and removes it, with its contents, at the end of the scope.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent);  // throws MK_DEVICE_ERROR
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace mokume::opencl
