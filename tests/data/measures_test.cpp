#include "data/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mokume::data {
namespace {

// These ten rows have three classes. The expected values come from scikit-learn 1.9.1.
const std::vector<int32_t> kTrueClasses = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2};
const std::vector<int32_t> kGuessedClasses = {0, 0, 1, 0, 1, 1, 2, 2, 0, 2};
const std::vector<double> kClassProbabilities = {.7, .2, .1, .6, .3, .1, .2, .5, .3, .8, .1, .1, .1, .8, .1,
                                                 .3, .6, .1, .1, .3, .6, .2, .2, .6, .5, .3, .2, .1, .1, .8};

TEST(Measures, CountThePredictionsOfEachClass) {
  const Confusion confusion = count_confusion(kTrueClasses, kGuessedClasses, 3);
  EXPECT_EQ(confusion.counts, (std::vector<int64_t>{3, 1, 0, 0, 2, 1, 1, 0, 2}));
  EXPECT_EQ(confusion.rows_of(0), 4);
  EXPECT_EQ(confusion.predicted_as(1), 3);
  EXPECT_DOUBLE_EQ(recall(confusion, 0), 0.75);
  EXPECT_DOUBLE_EQ(precision(confusion, 2), 2.0 / 3);
  EXPECT_DOUBLE_EQ(f1(confusion, 1), 2.0 / 3);
}

TEST(Measures, MatchScikitLearn) {
  const Confusion confusion = count_confusion(kTrueClasses, kGuessedClasses, 3);
  EXPECT_NEAR(balanced_error(confusion), 0.3055555555555557, 1e-15);
  EXPECT_NEAR(value_of(Measure::precision, confusion), 0.6944444444444443, 1e-15);
  EXPECT_NEAR(value_of(Measure::recall, confusion), 0.6944444444444443, 1e-15);
  EXPECT_NEAR(value_of(Measure::f1, confusion), 0.6944444444444443, 1e-15);
  EXPECT_NEAR(auc(kTrueClasses, kClassProbabilities, 3).value(), 0.8938492063492064, 1e-15);
  EXPECT_NEAR(log_loss(kTrueClasses, kClassProbabilities, 3).value(), 0.6981431098373471, 1e-15);
}

// Class 2 occurs nowhere, and class 3 only among the predictions.
TEST(Measures, LeaveOutClassesThatDoNotOccur) {
  const Confusion confusion =
      count_confusion(std::vector<int32_t>{0, 0, 1, 1, 1}, std::vector<int32_t>{0, 3, 1, 1, 0}, 4);
  EXPECT_NEAR(balanced_error(confusion), 0.41666666666666674, 1e-15);
  EXPECT_NEAR(value_of(Measure::precision, confusion), 0.5, 1e-15);
  EXPECT_NEAR(value_of(Measure::recall, confusion), 0.38888888888888884, 1e-15);
  EXPECT_NEAR(value_of(Measure::f1, confusion), 0.43333333333333335, 1e-15);
}

TEST(Measures, TiesCountHalfInTheAuc) {
  const std::vector<int32_t> labels = {0, 1, 1, 0, 1};
  std::vector<double> scores;
  for (const double positive : {.2, .5, .5, .5, .9}) scores.insert(scores.end(), {-positive, positive});
  EXPECT_NEAR(auc(labels, scores, 2).value(), 0.8333333333333333, 1e-15);
}

TEST(Measures, HaveNoValueWithoutRowsOfEveryClassOrNumbers) {
  const std::vector<int32_t> same = {1, 1};
  EXPECT_FALSE(auc(same, std::vector<double>{0, 1, 0, 1}, 2));
  EXPECT_FALSE(auc(same, std::vector<double>{}, 2));
  EXPECT_FALSE(auc(std::vector<int32_t>{0, 1}, std::vector<double>{0, NAN, 0, 1}, 2));
  EXPECT_FALSE(log_loss({}, {}, 2));
  EXPECT_EQ(balanced_error(count_confusion({}, {}, 2)), 0);
}

TEST(Measures, OneRowCannotMakeTheLogLossInfinite) {
  const std::vector<int32_t> labels = {0, 1};
  EXPECT_NEAR(log_loss(labels, std::vector<double>{1, 0, 1, 0}, 2).value(), 18.021826694558577, 1e-12);
}

TEST(Measures, AMatrixFromAFileMustMatchItsRows) {
  EXPECT_TRUE(checked_confusion({1, 2, 0, 4}, 2, 7));
  EXPECT_FALSE(checked_confusion({1, 2, 0, 4}, 2, 8));
  EXPECT_FALSE(checked_confusion({1, 2, 0, 4}, 4, 7));
  EXPECT_FALSE(checked_confusion({9, -2, 0, 0}, 2, 7));
  EXPECT_FALSE(checked_confusion({}, 0, 0));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(checked_confusion({kMost, kMost, 0, 9}, 2, 7));
}

TEST(Measures, HaveNames) {
  EXPECT_EQ(find_measure("f1")->measure, Measure::f1);
  EXPECT_TRUE(find_measure("auc")->larger_is_better);
  EXPECT_FALSE(find_measure("log_loss")->larger_is_better);
  EXPECT_EQ(find_measure("accuracy"), nullptr);
}

// The expected values are those of scikit-learn's functions with these names.
TEST(Measures, RegressionsFollowScikitLearn) {
  const std::vector<float> targets = {3, -0.5F, 2, 7}, predicted = {2.5F, 0, 2, 8};
  const auto value = [&](const char* name) {
    return value_of(find_measure(name)->measure, targets, predicted).value();
  };
  EXPECT_DOUBLE_EQ(value("rmse"), std::sqrt(0.375));
  EXPECT_DOUBLE_EQ(value("mae"), 0.5);
  EXPECT_NEAR(value("r2"), 0.9486081370449679, 1e-15);
  EXPECT_NEAR(value("explained_variance"), 0.9571734475374732, 1e-15);
  EXPECT_FALSE(value_of(Measure::r2, std::vector<float>{1, 1}, std::vector<float>{1, 2}).has_value());
  EXPECT_FALSE(value_of(Measure::mae, std::vector<float>{}, std::vector<float>{}).has_value());
}

}  // namespace
}  // namespace mokume::data
