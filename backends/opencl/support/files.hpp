// The few file operations the backend needs: caches that several processes write at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mokume::opencl {

// SHA-256 of `text` as 64 hexadecimal digits.
std::string sha256(std::string_view text);

// Nothing if the file cannot be read or is larger than `most_bytes`.
std::optional<std::string> read_file(const std::string& path, size_t most_bytes = size_t{1} << 28);

// Replaces the file in one step (a private name next to it, then rename), so that readers see the old or the new one.
// False if that fails: a cache that cannot be written costs time, not correctness.
bool replace_file(const std::string& path, std::string_view content);

// A new private directory under `parent` that is removed with everything in it at the end of scope.
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
