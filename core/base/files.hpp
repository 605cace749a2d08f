// Files and hashes. Every failure is an Error that names the path and the cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.hpp"

namespace mokume::base {

std::string read_file(const std::string& path, uint64_t max_bytes = uint64_t{1} << 32);  // Error(MK_BAD_DATA)
std::string read_file(const Below& file, uint64_t max_bytes = uint64_t{1} << 32);        // the same

// Writes a temporary file next to `path`, fsyncs and renames it: readers see the old or the new content.
// Error(MK_STORAGE).
void write_file(const std::string& path, std::string_view content);

// The same below a root. `Durable::no` does not wait for the disk: for files that are soon written again.
enum class Durable { no, yes };
void write_file(const Below& file, std::string_view content, Durable durable = Durable::yes);

// Writes all of `content`. Returns false, with errno, if a write fails.
bool write_all(int fd, std::string_view content);

// Renames a damaged file of a cache to PATH.damaged, so that it is made anew and can still be examined. Returns the
// warning that says so.
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

// Writes SHA256SUMS in `directory`, in the format of sha256sum, for the files there. Error(MK_STORAGE).
void write_sums(const std::string& directory);
// Checks files against SHA256SUMS. Error(MK_BAD_DATA) names a file that is missing or differs from its line;
// Error(MK_STORAGE) names one that cannot be read. `only` restricts the check to one file name; "" checks all listed
// files. None of them may be a symbolic link. Returns false, and checks nothing, if there is no SHA256SUMS, as in
// directories of older versions.
bool check_sums(const std::string& directory, std::string_view only = "");

// $XDG_CACHE_HOME/mokume or ~/.cache/mokume, created with mode 0700; "" if that is not possible. Without HOME, ~ is the
// home directory of the user database.
std::string cache_directory();

}  // namespace mokume::base
