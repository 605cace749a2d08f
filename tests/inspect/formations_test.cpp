#include "inspect/formations.hpp"

#include <gtest/gtest.h>

#include "sdk/error.hpp"

namespace mokume::inspect {
namespace {

TEST(Formations, AreNodesTimesDevices) {
  const auto made = parse_formations("1x3, 3x1,4x12");
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[1].nodes, 3U);
  EXPECT_EQ(made[1].devices, 1U);
  EXPECT_EQ(made[2].devices, 12U);
  for (const char* wrong :
       {"", "3", "3y1", "1x", "x1", "0x3", "1x0", "1x3,", "1x3x2", "-1x3", "1.5x2", "1x99999999999"}) {
    try {
      parse_formations(wrong);
      FAIL() << wrong;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
      EXPECT_NE(std::string(e.what()).find("nodes x devices"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(parse_formations("1000x1000"), Error);
}

// The workload has 6 rows of 3 folds that take 60 to 360 s each, and refits that take 1.5 times as long as a fit.
TEST(Formations, TableShowsTimesAndEfficiencies) {
  scheduler::Workload workload;
  run::Expectation expectation{{}, true, "made-up times"};
  for (uint32_t fit = 0; fit < 18; ++fit) {
    workload.bundles.push_back({{fit}, 1, 1, fit / 3});
    workload.positions.push_back({0, fit % 3, {(fit / 3) / 5.0}});
    expectation.seconds.push_back(60.0 * (1 + fit / 3));
  }
  const std::string table = formations_table(workload, expectation, 1.5, parse_formations("1x1,1x3,3x1,4x3"));
  EXPECT_EQ(table,
            "formations, simulated from made-up times\n"
            "  nodes x devices             this schedule              static split       random static split\n"
            "                            time efficiency           time efficiency           time efficiency\n"
            "      1 x 1           1 h 08 min      1.000     1 h 08 min      1.000     1 h 08 min      1.000\n"
            "      1 x 3          26 min 15 s      0.867    38 min 15 s      0.595    29 min 15 s      0.779\n"
            "      3 x 1          26 min 15 s      0.867    38 min 15 s      0.595    29 min 15 s      0.779\n"
            "      4 x 3          13 min 15 s      0.429    17 min 15 s      0.330    15 min 00 s      0.381\n"
            "including refits, each of a candidate with an average fit time\n");
  expectation.measured = false;
  const std::string relative = formations_table(workload, expectation, 1.5, parse_formations("1x3"));
  EXPECT_EQ(relative.find("min"), std::string::npos) << relative;
}

}  // namespace
}  // namespace mokume::inspect
