// File access and hashes. Every failure is an Error that names the path and the cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.hpp"

namespace mokume::base {

std::string read_file(const std::string& path, uint64_t max_bytes = uint64_t{1} << 32);  // throws Error(MK_BAD_DATA)
std::string read_file(const Below& file, uint64_t max_bytes = uint64_t{1} << 32);

// Writes a temporary file next to `path`, calls fsync and renames it: readers see the old or the new content. Throws
// Error(MK_STORAGE) on failure.
void write_file(const std::string& path, std::string_view content);

// Replaces a file below a root in the same way. `Durable::no` does not wait for the disk.
enum class Durable { no, yes };
void write_file(const Below& file, std::string_view content, Durable durable = Durable::yes);

// Writes all of `content`. Returns false, with errno, if a write fails.
bool write_all(int fd, std::string_view content);

// Renames a damaged cache file to PATH.damaged, so that it can still be examined. Returns a warning for the user.
std::string set_aside(const std::string& path, const std::string& why);

// SHA-256 in lower-case hex.
std::string sha256(std::string_view bytes);
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(const void* bytes, size_t size);
  std::string hex();  // callable once

 private:
  void* context_;
};

// Writes the SHA-256 of every file in `directory` to SHA256SUMS, in the format of sha256sum. Throws Error(MK_STORAGE).
void write_sums(const std::string& directory);
// Checks files against SHA256SUMS. Throws Error(MK_BAD_DATA) for a file that is missing or differs from its line, and
// Error(MK_STORAGE) for a file that cannot be read. `only` restricts the check to one file name; "" checks all listed
// files. Symbolic links are rejected. Returns false without checking anything if SHA256SUMS does not exist, as in
// directories of older versions.
bool check_sums(const std::string& directory, std::string_view only = "");

// Returns $XDG_CACHE_HOME/mokume or ~/.cache/mokume, created with mode 0700, or "" if that is impossible. Without HOME,
// ~ is the home directory in the user database.
std::string cache_directory();

}  // namespace mokume::base
