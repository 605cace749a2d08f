#include "report/profile.hpp"

#include <gtest/gtest.h>

#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::occurrences;

results::DeviceProfile profile() {
  return {1,
          "opencl:0",
          "Card <&>",
          {{"forward", "gemm 2x3x4", 7, 3.0, 6e9, 3e9}, {"load", device::kOutsideOps, 2, 1.0, 0, 0}}};
}

TEST(ProfileReport, TheTerminalShowsPhasesAndOps) {
  const std::string text = profile_text(profile());
  EXPECT_EQ(text.find("node 1, opencl:0 (Card <&>): 4.000 s\n"), 0U) << text;
  EXPECT_HAS(text, "forward     gemm 2x3x4                                 7      3.000   75.0%       2.0      1.0\n");
  EXPECT_EQ(occurrences(text, "25.0%"), 2U) << "load, as a phase and as its time outside of ops";
}

TEST(ProfileReport, ManyOpsEndInOneLineThatKeepsTheSum) {
  results::DeviceProfile many = profile();
  many.rows.clear();
  for (int k = 0; k < 100; ++k) many.rows.push_back({"forward", "op " + std::to_string(k), 1, 1.0, 0, 0});
  const std::string text = profile_text(many);
  EXPECT_HAS(text, "...         61 more, in logs/                         61     61.000   61.0%");
}

}  // namespace
}  // namespace mokume::report
