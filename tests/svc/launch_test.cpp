// Tests limits on the length of a launch of the solver.
#include <gtest/gtest.h>

#include "libsvm_solver.hpp"

namespace mokume::svc {
namespace {

mk_device_info device(uint32_t flags) {
  mk_device_info info{};
  info.flags = flags;
  return info;
}

TEST(StepsPerLaunch, AreAsManyAsPossible) { EXPECT_EQ(steps_per_launch(device(0), 1'000'000), kStepsPerLaunch); }

// llvmpipe silently ends the loops of a work-item after 65,535 iterations in total. With 4,000 rows, 512 steps were too
// many, and fits failed or had wrong results.
TEST(StepsPerLaunch, AreFewWhereLoopsEndEarly) {
  EXPECT_EQ(steps_per_launch(device(MK_DEVICE_SOFTWARE), 64), (60'000 - 69) / (2 * 65 + 64));
  for (const int64_t stride : {int64_t{4'000}, int64_t{60'000}, int64_t{300'000}}) {
    const int64_t steps = steps_per_launch(device(MK_DEVICE_SOFTWARE), stride);
    EXPECT_GE(steps, 1);
    const int64_t turns = steps * 2 * (stride / 64 + 1) + stride / 64 + stride / 16;
    EXPECT_LT(turns, 65'535) << stride;
  }
}

}  // namespace
}  // namespace mokume::svc
