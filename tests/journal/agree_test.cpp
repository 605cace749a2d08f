#include "journal/agree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "journal/scratch.hpp"

namespace mokume::journal {
namespace {

const Bounds kClassifier = {1000000, std::nullopt, 10, std::vector<Bounds::Metric>{{"errors", true}, {"error", false}}};
const Bounds kRegression = {1000000, std::nullopt, 0, std::vector<Bounds::Metric>{{"mse", false}}};

bool agree_on(int64_t n, const std::vector<double>& a, const std::vector<double>& b,
              const Bounds& bounds = kRegression) {
  FitRecord x = make_record(4), y = make_record(4);
  x.n = y.n = n;
  x.values = a;
  y.values = b;
  EXPECT_EQ(agree(x, y, bounds), agree(y, x, bounds));
  return agree(x, y, bounds);
}

TEST(Agree, CountsOfAClassifierMayDifferByTwoOfAThousandRows) {
  EXPECT_TRUE(agree_on(1000, {13, 0.013}, {15, 0.015}, kClassifier));
  EXPECT_FALSE(agree_on(1000, {13, 0.013}, {16, 0.016}, kClassifier));
  EXPECT_TRUE(agree_on(10000, {0, 0}, {20, 0.002}, kClassifier));
  EXPECT_FALSE(agree_on(10000, {0, 0}, {21, 0.0021}, kClassifier));
  EXPECT_TRUE(agree_on(3, {1, static_cast<double>(1.0F / 3)}, {2, static_cast<double>(2.0F / 3)}, kClassifier));
}

TEST(Agree, OneRowMayDifferHoweverFewThereAre) {
  EXPECT_TRUE(agree_on(60, {3, 3 / 60.0}, {4, 4 / 60.0}, kClassifier));
  EXPECT_FALSE(agree_on(60, {3, 3 / 60.0}, {5, 5 / 60.0}, kClassifier));
}

TEST(Agree, OtherMetricsMayDifferByAThousandth) {
  EXPECT_TRUE(agree_on(1000, {0.34521}, {0.34549}));
  EXPECT_FALSE(agree_on(1000, {0.34521}, {0.34591}));
  EXPECT_TRUE(agree_on(1000, {-5000.5}, {-5004.5}));
  EXPECT_FALSE(agree_on(1000, {1e-9}, {-1e-9}));
  EXPECT_FALSE(agree_on(1000, {1e-9}, {2e-9}));
}

TEST(Agree, AWholeNumberIsACountOnlyWhereTheMetricIsOne) {
  EXPECT_FALSE(agree_on(1000, {3}, {4})) << "a mean squared error";
  EXPECT_FALSE(agree_on(1000, {3}, {4}, Bounds{})) << "an unknown metric";
  Bounds with_loss = kClassifier;
  with_loss.metrics->push_back({"loss", false});
  EXPECT_FALSE(agree_on(1000, {3, 0.003, 2}, {3, 0.003, 1}, with_loss));
}

TEST(Agree, MeansOverClassesMayDifferByThePermittedRowsOfARareClass) {
  Bounds bounds = kClassifier;
  for (const char* name : {"f1", "log_loss"}) bounds.metrics->push_back({name, false});
  EXPECT_TRUE(agree_on(1000, {13, 0.013, 0.975, 0.1}, {13, 0.013, 0.957, 0.1}, bounds));
  EXPECT_FALSE(agree_on(1000, {13, 0.013, 0.975, 0.1}, {13, 0.013, 0.954, 0.1}, bounds));
  EXPECT_FALSE(agree_on(1000, {13, 0.013, 0.975, 0.1}, {13, 0.013, 0.975, 0.101}, bounds));
}

TEST(Agree, ARefitOfAClassifierCountsRows) {
  FitRecord a = make_record(4), b = make_record(4);
  a.refit = b.refit = 1;
  a.n = b.n = 1000;
  a.values = {3};
  b.values = {4};
  EXPECT_TRUE(agree(a, b, kClassifier));
  EXPECT_FALSE(agree(a, b, kRegression));
}

TEST(Agree, ANonFiniteValueAgreesOnlyWithItself) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(agree_on(10, {nan, inf}, {nan, inf}));
  EXPECT_FALSE(agree_on(10, {nan}, {inf}));
  EXPECT_FALSE(agree_on(10, {1}, {nan}));
  EXPECT_FALSE(agree_on(10, {1}, {1, 1}));
}

TEST(Agree, AFailureAgreesOnlyWithFailures) {
  FitRecord ok = make_record(4), failed = make_record(4);
  failed.status = FitStatus::failed;
  failed.note = "diverged";
  EXPECT_FALSE(agree(ok, failed, {}));
  FitRecord elsewhere = failed;
  elsewhere.note = "diverged in epoch 3";
  EXPECT_TRUE(agree(failed, elsewhere, {}));
  FitRecord capped = ok, other_rows = ok, other_fit = ok;
  capped.status = FitStatus::capped;
  other_rows.n += 1;
  other_fit.fit += 1;
  EXPECT_TRUE(agree(ok, capped, {}));
  EXPECT_FALSE(agree(ok, other_rows, {}));
  EXPECT_FALSE(agree(ok, other_fit, {}));
}

TEST(Consistent, WithinAClassRequiresTheSameBits) {
  FitRecord a = make_record(4), b = make_record(4);
  EXPECT_TRUE(consistent(a, b, {}));
  b.values[0] = std::nextafter(b.values[0], 9.0);
  EXPECT_FALSE(consistent(a, b, {}));
  b.device_class = "another";
  EXPECT_TRUE(consistent(a, b, {}));
}

TEST(Consistent, StrictNumericsRequireTheSameBitsEverywhere) {
  FitRecord a = make_record(4), b = make_record(4);
  b.device_class = "another";
  const Bounds strict{.strict = true};
  EXPECT_TRUE(consistent(a, b, strict));
  b.values[0] = std::nextafter(b.values[0], 9.0);
  EXPECT_FALSE(consistent(a, b, strict));
}

}  // namespace
}  // namespace mokume::journal
