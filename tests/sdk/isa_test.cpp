#include "sdk/isa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace mokume::sdk {
namespace {

using testing::HasSubstr;

class IsaLimit : public testing::Test {
 protected:
  IsaLimit() { unsetenv("MOKUME_ISA"); }
  ~IsaLimit() override { unsetenv("MOKUME_ISA"); }
};

TEST_F(IsaLimit, IsTheWidestSetWithoutAVariable) {
  const Isa widest = widest_isa();
  EXPECT_TRUE(offers(widest));
  for (const auto& [name, isa] : kIsas) EXPECT_TRUE(!offers(isa) || isa <= widest) << name;
  setenv("MOKUME_ISA", "", 1);
  EXPECT_EQ(widest_isa(), widest);
}

TEST_F(IsaLimit, IsTheSetThatTheVariableNames) {
  setenv("MOKUME_ISA", "base", 1);
  EXPECT_EQ(widest_isa(), Isa::kBase);
}

TEST_F(IsaLimit, IsRefusedIfTheMachineLacksIt) {
#if defined(__x86_64__)
  setenv("MOKUME_ISA", "neon", 1);
#else
  setenv("MOKUME_ISA", "avx2", 1);
#endif
  try {
    widest_isa();
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("but this machine offers only these: base"));
  }
}

}  // namespace
}  // namespace mokume::sdk
