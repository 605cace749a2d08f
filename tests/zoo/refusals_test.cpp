// Each bad library is refused with its reason.
#include <gtest/gtest.h>

#include <algorithm>

#include "zoo/registry_place.hpp"

namespace mokume::registry {
namespace {

struct Animal {
  const char *name, *stage;
  std::vector<std::string> phrases;
};

class Zoo : public RegistryTest, public testing::WithParamInterface<Animal> {};

TEST_P(Zoo, IsRefusedWithAReason) {
  install(GetParam().name);
  const std::string text = refusal(GetParam().name, GetParam().stage);
  for (const std::string& phrase : GetParam().phrases) EXPECT_TRUE(contains(text, phrase)) << phrase << ": " << text;
  EXPECT_EQ(std::count(host_.lines.begin(), host_.lines.end(), std::string(GetParam().name) + " shutdown"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Animals, Zoo,
    testing::Values(
        Animal{"no_symbol", "symbol", {"does not export mokume_plugin_query_v1", "MOKUME_PLUGIN("}},
        Animal{"null_header", "query", {"cannot serve ABI 1.0", "rebuild"}},
        Animal{"query_throws", "query", {"thrown by the query"}},
        Animal{"wrong_magic", "header", {"0x0000000000000007", "not a mokume library"}},
        Animal{"short_header", "header", {"has 56 bytes, this program's 64", "rebuild"}},
        Animal{"other_major", "header", {"uses ABI 2.0, this program 1.0", "rebuild"}},
        Animal{"newer_minor", "header", {"needs ABI 1.1, this program has only 1.0", "update mokume or rebuild"}},
        Animal{"wrong_hash", "header", {"other headers of core/abi", "this program's is", "rebuild"}},
        Animal{"wrong_sanitizer", "header", {"unknown sanitizer, this program with", "same preset"}},
        Animal{"wrong_kind", "header", {"is a model, not a backend", "move it to plugins/"}},
        Animal{"unknown_kind", "header", {"unknown kind, not a backend"}},
        Animal{"wrong_name", "header", {"calls itself 'other', its file 'wrong_name'", "rename"}},
        Animal{"null_name", "header", {"calls itself ''"}},
        Animal{"null_start", "header", {"no version, description or start function"}},
        Animal{"start_fails", "start", {"the driver is missing: install it"}},
        Animal{"start_throws", "start", {"thrown across the boundary", "author"}},
        Animal{"start_is_silent", "start", {"status 1 and no reason"}},
        Animal{"null_table", "start", {"returned no table"}},
        Animal{"short_table", "start", {"has 24 bytes, this program's"}},
        Animal{"other_table_major", "start", {"table has ABI 2.0, this program uses 1.0"}},
        Animal{"null_slot", "start", {"function 11 of its table is null"}}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace mokume::registry
