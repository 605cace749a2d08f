// Reads, writes and hashes files. Errors name the path and the cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.hpp"

namespace mokume::base {

std::string read_file(const std::string& path, uint64_t max_bytes = uint64_t{1} << 32);  // throws Error(MK_BAD_DATA)
std::string read_file(const Below& file, uint64_t max_bytes = uint64_t{1} << 32);

// Writes a temporary file next to `path`, syncs it to disk and renames it, so that readers see either the old or the
// new content. Throws sdk::storage_error() on failure.
void write_file(const std::string& path, std::string_view content);

// Replaces a file below a root in the same way. With `Durable::no`, the function does not wait for the disk.
enum class Durable { no, yes };
void write_file(const Below& file, std::string_view content, Durable durable = Durable::yes);

// Writes all of `content`. Returns false and sets errno if a write fails.
bool write_all(int fd, std::string_view content);

// Renames a damaged cache file to PATH.damaged, so that it can still be examined. Returns a warning for the user.
std::string set_aside(const std::string& path, const std::string& why);

// Returns the SHA-256 of `bytes` in lower-case hex. The class takes the bytes in pieces.
std::string sha256(std::string_view bytes);
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(const void* bytes, size_t size);
  std::string hex();  // may be called only once

 private:
  void* context_;
};

// Writes the SHA-256 of every file in `directory` to SHA256SUMS, in the format of sha256sum. Throws
// sdk::storage_error().
void write_sums(const std::string& directory);
// Checks files against SHA256SUMS. Throws Error(MK_BAD_DATA) for a file that is missing, is a symbolic link or differs
// from its line, and Error(MK_STORAGE) if the disk fails. `only` restricts the check to one file name; ""
// selects all listed files. Returns false without checking anything if SHA256SUMS does not exist, as in directories
// that older versions wrote. Does not read large files that have passed before and are unchanged since, which the
// user's `cache` remembers.
bool check_sums(const std::string& directory, std::string_view only = "", const std::string& cache = "");

// Returns the directory $XDG_CACHE_HOME/mokume or ~/.cache/mokume, and creates it with mode 0700. Returns "" if there
// is no such directory or others can write to it. If HOME is not an absolute path, ~ comes from the user database.
std::string cache_directory();

}  // namespace mokume::base
