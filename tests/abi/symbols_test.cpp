// Tests that the libraries of this build export only the query.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "abi/plugin.h"
#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;
namespace test = mokume::test;

// Returns the names that `nm` lists as defined and dynamic.
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

TEST(Symbols, EveryLibraryExportsOnlyTheQuery) {
  const std::vector<fs::path> libraries = libraries_of(test::libraries());
  ASSERT_FALSE(libraries.empty()) << "build the backends and plugins first";
  for (const fs::path& library : libraries)
    EXPECT_EQ(exported(library), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL}) << library;
}

TEST(Symbols, TheCheckDetectsALibraryWithoutTheQuery) {
  const fs::path zoo = test::build_directory() + "/tests/zoo/animals";
  EXPECT_NE(exported(zoo / "no_symbol.so"), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL});
  EXPECT_EQ(exported(zoo / "good.so"), std::vector<std::string>{MK_PLUGIN_QUERY_SYMBOL});
}

#ifdef NDEBUG  // debug information contains paths of this machine
bool holds(const fs::path& file, const std::string& text) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str().find(text) != std::string::npos;
}

// Users copy the programs to other machines.
TEST(Programs, ContainNoPathOfTheBuildMachine) {
  const std::string build = test::build_directory();
  for (const char* folder : {"/bin", "/lib"})
    for (const auto& entry : fs::recursive_directory_iterator(build + folder))
      if (entry.is_regular_file()) {
        EXPECT_FALSE(holds(entry.path(), build)) << entry.path() << " holds " << build;
        EXPECT_FALSE(holds(entry.path(), test::source_directory())) << entry.path();
      }
}
#endif

}  // namespace
