#include "bits.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/files.hpp"

namespace mokume::conformance {
namespace {

std::string hash_of(const std::vector<Words>& results) {
  std::string bytes;
  for (const Words& words : results)
    bytes.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0]));
  return base::sha256(bytes);
}

std::map<std::string, std::string> kept_in(const char* path) {
  std::map<std::string, std::string> kept;
  std::ifstream file(path);
  for (std::string name, hash; file >> name >> hash;) kept[name] = hash;
  return kept;
}

}  // namespace

void keep_or_expect_bits(const std::string& name, const std::vector<Words>& results) {
  if (const char* path = std::getenv("MOKUME_KEEP_BITS")) {
    static std::ofstream file(path);
    file << name << ' ' << hash_of(results) << std::endl;
    EXPECT_TRUE(file.good()) << "cannot write " << path;
  }
  if (const char* path = std::getenv("MOKUME_EXPECT_BITS")) {
    static const std::map<std::string, std::string> kept = kept_in(path);
    const auto found = kept.find(name);
    ASSERT_NE(found, kept.end()) << path << " has no line for " << name;
    EXPECT_EQ(found->second, hash_of(results)) << "the run that wrote " << path << " has other bits";
  }
}

}  // namespace mokume::conformance
