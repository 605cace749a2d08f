#include "calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace mokume::svc {
namespace {

const std::vector<double> kDecisions = {-2, -1.5, -1, -.7, -.2, .1, .3, .8, 1.2, 2.5};
const std::vector<bool> kPositive = {false, false, false, true, false, true, false, true, true, true};

// The values come from scikit-learn 1.9.1 and from a direct minimisation by SciPy.
TEST(Calibration, FitsPlattsSigmoid) {
  const mk_sigmoid s = fit_sigmoid(kDecisions, kPositive);
  EXPECT_NEAR(s.a, -0.913445, 1e-4);
  EXPECT_NEAR(s.b, -0.076884, 1e-4);
  EXPECT_GT(sigmoid(s, 2), 0.5);
  EXPECT_LT(sigmoid(s, -2), 0.5);
}

TEST(Calibration, SeparatedClassesStayUncertain) {
  const mk_sigmoid s = fit_sigmoid(std::vector<double>{-3, -2, 2, 3}, {false, false, true, true});
  EXPECT_GT(sigmoid(s, 3), 0.7);
  EXPECT_LT(sigmoid(s, 3), 0.95) << "four rows prove little";
}

TEST(Calibration, RowsOfOneClassGiveAConstant) {
  const mk_sigmoid s = fit_sigmoid(std::vector<double>{1, 2, 3}, {true, true, true});
  EXPECT_EQ(s.a, 0);
  EXPECT_NEAR(sigmoid(s, -100), 0.8, 1e-12);
}

TEST(Calibration, LargeDecisionsDoNotOverflow) {
  const mk_sigmoid s{-1, 0};
  EXPECT_EQ(sigmoid(s, 1e308), 1);
  EXPECT_EQ(sigmoid(s, -1e308), 0);
  const mk_sigmoid fitted = fit_sigmoid(std::vector<double>{-1e30, 1e30, -2e30, 3e30}, {false, true, false, true});
  EXPECT_TRUE(std::isfinite(fitted.a));
  EXPECT_TRUE(std::isfinite(fitted.b));
}

// SciPy found this minimum of the paper's criterion.
TEST(Calibration, CouplesPairs) {
  const std::vector<double> p = couple_pairs(std::vector<double>{0.9, 0.8, 0.3}, 3);
  EXPECT_NEAR(p[0], 0.73502896, 2e-3);
  EXPECT_NEAR(p[1], 0.08066153, 2e-3);
  EXPECT_NEAR(p[2], 0.18430951, 2e-3);
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
}

TEST(Calibration, TwoClassesNeedNoCoupling) {
  const std::vector<double> p = couple_pairs(std::vector<double>{0.9}, 2);
  EXPECT_NEAR(p[0], 0.9, 2e-3);
}

}  // namespace
}  // namespace mokume::svc
