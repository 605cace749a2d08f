#include "base/json.hpp"

#include <gtest/gtest.h>

#include "sdk/error.hpp"

namespace mokume::base {
namespace {

TEST(Json, RefusesDeepNesting) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(64)));
  EXPECT_THROW(parse_json(nested(65)), Error);
  EXPECT_THROW(parse_json(std::string(1'000'000, '[')), Error);
  EXPECT_NO_THROW(parse_json("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"));
  std::string wide = "[0";
  for (int i = 0; i < 1000; ++i) wide += ",{}";
  EXPECT_EQ(parse_json(wide + "]").size(), 1001U);
}

}  // namespace
}  // namespace mokume::base
