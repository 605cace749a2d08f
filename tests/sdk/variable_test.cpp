#include "sdk/variable.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace mokume::sdk {
namespace {

constexpr const char* kName = "MOKUME_TEST_SECONDS";

class Seconds : public testing::Test {
 protected:
  ~Seconds() override { unsetenv(kName); }
  static double with(const char* value) {
    setenv(kName, value, 1);
    return seconds_variable(kName, 600);
  }
};

TEST_F(Seconds, AreTheDefaultWithoutAVariable) {
  EXPECT_EQ(seconds_variable(kName, 600), 600);
  EXPECT_EQ(with(""), 600);
}

TEST_F(Seconds, MayHaveAFraction) {
  EXPECT_EQ(with("10"), 10);
  EXPECT_EQ(with("0.5"), 0.5);
  EXPECT_EQ(with("1e3"), 1000);
}

TEST_F(Seconds, OfAnotherFormAreRefusedByName) {
  for (const char* value : {"10m", "10 s", " 10", "+10", "0", "-1", "nan", "inf", "1e10", "ten", "0x10", "1,5"}) {
    try {
      ADD_FAILURE() << value << " was read as " << with(value);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
      EXPECT_EQ(std::string(e.what()).find(kName + std::string(" is '") + value + "'"), 0U) << e.what();
    }
  }
}

}  // namespace
}  // namespace mokume::sdk
