#include "base/sealed.hpp"

#include <gtest/gtest.h>

namespace mokume::base {
namespace {

const char* const kObject = "{\n  \"crc\": [1, 2],\n  \"state\": \"running\"\n}";

TEST(Sealed, UnsealingReturnsTheOriginalText) {
  const std::string sealed = seal(std::string(kObject) + "\n");
  EXPECT_EQ(unseal_file(sealed).value().object, kObject);
  EXPECT_TRUE(unseal_file(sealed).value().checked);
  EXPECT_EQ(unseal(sealed.substr(0, sealed.size() - 1)), kObject);
}

TEST(Sealed, AFileOfAnOlderVersionIsAcceptedUnchecked) {
  const auto old = unseal_file(std::string(kObject) + "\n");
  EXPECT_EQ(old.value().object, std::string(kObject) + "\n");
  EXPECT_FALSE(old.value().checked);
}

TEST(Sealed, EveryFlippedBitIsDetected) {
  const std::string sealed = seal(kObject);
  for (size_t at = 0; at + 1 < sealed.size(); ++at)  // the last byte is a newline, which carries no information
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = sealed;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_FALSE(unseal_file(flipped)) << at << " " << bit;
    }
  for (size_t length = 1; length + 1 < sealed.size(); ++length)
    EXPECT_FALSE(unseal_file(sealed.substr(0, length)).value_or(Unsealed{}).checked) << length;
}

}  // namespace
}  // namespace mokume::base
