// Replays the committed seeds, which include every input that once found a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "fuzz.hpp"
#include "support/paths.hpp"

namespace mokume::fuzz {
namespace {

namespace fs = std::filesystem;

std::string seeds() { return test::source_directory() + "/tests/fuzz/seeds"; }

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Target& one : targets()) all.push_back(one.name);
  return all;
}

class Seeds : public testing::TestWithParam<std::string> {};

TEST_P(Seeds, AreReadOrRefused) {
  const Target& one = target(GetParam());
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(seeds() + "/" + one.name)) paths.push_back(entry.path());
  ASSERT_FALSE(paths.empty());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const std::string bytes = base::read_file(path);
    one.run(bytes);
    if (one.repair != nullptr) one.run(one.repair(bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Seeds, testing::ValuesIn(names()), [](const auto& chosen) { return chosen.param; });

// targets.json lists the input of each target, and the sources of its coverage.
TEST(Fuzz, TheTableIsComplete) {
  const std::string tree = test::source_directory();
  const auto table = nlohmann::json::parse(base::read_file(tree + "/tests/fuzz/targets.json"));
  std::set<std::string> defined, listed, with_seeds;
  for (const Target& one : targets()) defined.insert(one.name);
  for (const auto& entry : fs::directory_iterator(seeds())) with_seeds.insert(entry.path().filename());
  for (const auto& [name, row] : table.items()) {
    listed.insert(name);
    for (size_t i = 1; i < row.size(); ++i) EXPECT_TRUE(fs::exists(tree + "/" + row[i].get<std::string>())) << row[i];
  }
  EXPECT_EQ(listed, defined);
  EXPECT_EQ(with_seeds, defined);
}

}  // namespace
}  // namespace mokume::fuzz
