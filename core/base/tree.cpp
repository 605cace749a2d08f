#include "base/tree.hpp"

#include <sys/stat.h>

#include <filesystem>

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

}  // namespace

uint64_t tree_bytes(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_regular_file(status)) {
    const uint64_t size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  if (!fs::is_directory(status)) return 0;
  uint64_t bytes = 0;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    bytes += tree_bytes(it->path().string());
  return bytes;
}

double written_s(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return 0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

}  // namespace mokume::base
