#include "report/tables/profile.hpp"

#include <gtest/gtest.h>

#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::occurrences;
using testing::xml_fault;

DeviceProfile profile() {
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

TEST(ProfileReport, ThePageHasASectionOnlyIfThereIsAProfile) {
  RunView view = testing::grid();
  EXPECT_HAS_NOT(testing::page(view), "Where the time went");
  view.profiles = {profile()};
  const std::string page = testing::page(view);
  EXPECT_EQ(xml_fault(page), "");
  EXPECT_HAS(page, "Where the time went");
  EXPECT_HAS(page, "Node 1, opencl:0 (Card &lt;&amp;&gt;): 4");
  EXPECT_HAS(page, "<td>forward</td><td>gemm 2x3x4</td><td class=\"n\" data-v=\"7\">7</td>");
}

TEST(ProfileReport, ManyOpsEndInOneLineThatKeepsTheSum) {
  DeviceProfile many = profile();
  many.rows.clear();
  for (int k = 0; k < 100; ++k) many.rows.push_back({"forward", "op " + std::to_string(k), 1, 1.0, 0, 0});
  const std::string text = profile_text(many);
  EXPECT_HAS(text, "...         61 more, in logs/                         61     61.000   61.0%");
}

}  // namespace
}  // namespace mokume::report
