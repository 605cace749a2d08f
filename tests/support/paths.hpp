// Locates this build and its sources from the running program, so that programs contain no path of the build machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mokume::test {

// Programs are in <build>/bin.
inline std::string build_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

// Quotes a path as one word of a shell's command line, because the path of the checkout may contain a blank.
inline std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// Returns the directory with the backends, plugins and transports of this build.
inline std::string libraries() { return build_directory() + "/lib/mokume"; }

// Returns the source tree: a folder above the build, or the folder that MOKUME_SOURCE_DIR names, as in CTest.
inline std::string source_directory() {
  if (const char* named = std::getenv("MOKUME_SOURCE_DIR")) return named;
  for (std::filesystem::path at = build_directory(); at.has_relative_path(); at = at.parent_path())
    if (std::filesystem::exists(at / "CMakePresets.json")) return at.string();
  throw std::runtime_error("no checkout is above " + build_directory() + ": name it with MOKUME_SOURCE_DIR");
}

}  // namespace mokume::test
