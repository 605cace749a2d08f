// Tests that the program writes the files in golden/ byte for byte. A plan's hash depends on the canonical JSON.
#include <string>

#include "config/support.hpp"

namespace mokume::config {
namespace {

TEST(Golden, AResolvedFileAndItsCanonicalJsonMatch) {
  for (const std::string name : {"full", "network"}) {
    const Config config = good(golden(name + ".toml"));
    EXPECT_EQ(to_toml(config), golden(name + ".resolved.toml"));
    EXPECT_EQ(canonical_json(config) + "\n", golden(name + ".canonical.json"));
    EXPECT_EQ(canonical_json(good(to_toml(config))), canonical_json(config));
  }
}

TEST(Golden, TheSchemaMatches) { EXPECT_EQ(json_schema({{"net", kNet}, {"other", kOther}}), golden("schema.json")); }

TEST(Golden, TheStarterFilesMatch) {
  EXPECT_EQ(starter_toml("svc", kSvc), golden("starter-svc.toml"));
  EXPECT_EQ(starter_toml("net", kNet), golden("starter-net.toml"));
  EXPECT_EQ(starter_toml("other", kOther), golden("starter-other.toml"));
}

}  // namespace
}  // namespace mokume::config
