#include "node/fit_sink.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

mk_fit_result report_of(const std::vector<mk_curve>& curves) {
  mk_fit_result result{};
  result.curves = curves.data();
  result.n_curves = static_cast<uint32_t>(curves.size());
  return result;
}

std::string refusal(const std::vector<mk_curve>& curves) {
  try {
    curves_of(report_of(curves));
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INTERNAL);
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(FitReport, CopiesCurvesInTheOrderOfTheirNames) {
  const std::vector<double> values = {0.5, std::copysign(kNan, -1.0), -0.0};
  const std::string longest(kMaxCurveName, 'x');
  const auto curves = curves_of(report_of(
      {{"train_loss", 3, 0, values.data()}, {longest.c_str(), 1, 0, values.data()}, {"a b~(%)", 0, 0, nullptr}}));
  ASSERT_EQ(curves.size(), 3u);
  EXPECT_EQ(curves[0].name, "a b~(%)");
  EXPECT_TRUE(curves[0].values.empty());
  EXPECT_EQ(curves[1].name, "train_loss");
  ASSERT_EQ(curves[1].values.size(), 3u);
  EXPECT_EQ(curves[1].values[0], 0.5);
  EXPECT_EQ(std::bit_cast<uint64_t>(curves[1].values[1]), std::bit_cast<uint64_t>(kNan));
  EXPECT_TRUE(std::signbit(curves[1].values[2]));
  EXPECT_EQ(curves[2].name, longest);
  EXPECT_TRUE(curves_of(mk_fit_result{}).empty());
}

TEST(FitReport, RefusesCurvesWithoutMemoryOrOfTooManyValues) {
  const double value = 1;
  EXPECT_NE(refusal({{"loss", 1, 0, nullptr}}).find("no values for the curve loss"), std::string::npos);
  EXPECT_NE(refusal({{"loss", kMaxCurveValues + 1, 0, &value}}).find("1000001 values"), std::string::npos);
  EXPECT_NE(refusal(std::vector<mk_curve>(17, {"loss", 1, 0, &value})).find("17 curves"), std::string::npos);
  mk_fit_result missing{};
  missing.n_curves = 1;
  EXPECT_THROW(curves_of(missing), Error);
}

TEST(FitReport, ANoteMayBeMissing) {
  mk_fit_result result{};
  EXPECT_EQ(note_of(result), "");
  result.note = "stopped";
  EXPECT_EQ(note_of(result), "stopped");
}

}  // namespace
}  // namespace mokume::node
