// The places of this build and its sources, found from the running program, so that no program contains a path of the
// machine that built it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace mokume::test {

// Programs are in <build>/bin.
inline std::string build_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

// The backends, plugins and transports of this build.
inline std::string libraries() { return build_directory() + "/lib/mokume"; }

// The source tree: a folder above the build, or the one that MOKUME_SOURCE_DIR names, as CTest does.
inline std::string source_directory() {
  if (const char* named = std::getenv("MOKUME_SOURCE_DIR")) return named;
  for (std::filesystem::path at = build_directory(); at.has_relative_path(); at = at.parent_path())
    if (std::filesystem::exists(at / "CMakePresets.json")) return at.string();
  throw std::runtime_error("no checkout is above " + build_directory() + ": name it with MOKUME_SOURCE_DIR");
}

}  // namespace mokume::test
