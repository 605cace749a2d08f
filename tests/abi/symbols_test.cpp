// What the libraries of this build export: the query and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "abi/plugin.h"

namespace {

namespace fs = std::filesystem;

// The names that `nm` lists as defined and dynamic.
std::vector<std::string> exported(const fs::path& library) {
  const std::string command = "nm -D --defined-only --format=posix '" + library.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string output;
  std::array<char, 4096> piece;
  while (const size_t n = std::fread(piece.data(), 1, piece.size(), pipe.get())) output.append(piece.data(), n);
  std::vector<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

std::vector<fs::path> libraries_of(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.path().extension() == ".so") found.push_back(entry.path());
  return found;
}

TEST(Symbols, EveryLibraryExportsTheQueryAlone) {
  const std::vector<fs::path> libraries = libraries_of(fs::path(MOKUME_BUILD_DIR) / "lib" / "mokume");
  ASSERT_FALSE(libraries.empty()) << "build the backends and plugins first";
  for (const fs::path& library : libraries)
    EXPECT_EQ(exported(library), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL}) << library;
}

TEST(Symbols, TheCheckSeesALibraryWithoutTheQuery) {
  EXPECT_NE(exported(fs::path(MOKUME_ZOO_DIR) / "no_symbol.so"), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL});
  EXPECT_EQ(exported(fs::path(MOKUME_ZOO_DIR) / "good.so"), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL});
}

}  // namespace
