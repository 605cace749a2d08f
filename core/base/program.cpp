#include "base/program.hpp"

#include <errno.h>

#include <filesystem>
#include <system_error>

namespace mokume::base {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

std::filesystem::path running_file() {
  std::error_code none;
  return std::filesystem::read_symlink(kSelf, none);
}

// glibc's loader is named ld-linux-x86-64.so.2, or ld-2.31.so before glibc 2.34.
bool is_loader(const std::filesystem::path& file) { return file.filename().string().starts_with("ld-"); }

}  // namespace

std::string program_path() {
  const std::filesystem::path file = running_file();
  if (!is_loader(file)) return file.string();
  // The scripts of a portable package pass their own path as the program's name.
  std::error_code none;
  return std::filesystem::absolute(program_invocation_name, none).string();
}

std::string program_to_start() { return is_loader(running_file()) ? program_path() : kSelf; }

}  // namespace mokume::base
