// Replays the committed seeds, which include every input that once found a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "fuzz.hpp"
#include "support/paths.hpp"

namespace mokume::fuzz {
namespace {

namespace fs = std::filesystem;

std::string seeds() { return test::source_directory() + "/tests/fuzz/seeds"; }

class Seeds : public testing::TestWithParam<Target> {};

TEST_P(Seeds, AreReadOrRefused) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(seeds() + "/" + GetParam().name)) paths.push_back(entry.path());
  ASSERT_FALSE(paths.empty());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const std::string bytes = base::read_file(path);
    GetParam().run(bytes);
    if (GetParam().repair != nullptr) GetParam().run(GetParam().repair(bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Seeds, testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(Fuzz, EverySeedBelongsToATarget) {
  for (const auto& entry : fs::directory_iterator(seeds())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(std::any_of(targets().begin(), targets().end(), [&](const Target& one) { return one.name == name; }))
        << name;
  }
}

}  // namespace
}  // namespace mokume::fuzz
