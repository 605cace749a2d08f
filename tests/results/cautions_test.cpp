#include "results/cautions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/constant_answer.hpp"
#include "results/support.hpp"

namespace mokume::results {
namespace {

std::string said(const RunView& view) {
  std::string all;
  for (const std::string& one : cautions(view)) all += one + "\n";
  return all;
}

TEST(Cautions, AreSilentAboutARunWithoutAnythingSuspicious) {
  RunView view = testing::grid();
  view.guess = 0.667;
  EXPECT_EQ(said(view), "");
}

TEST(Cautions, NameAResultNoBetterThanTheMostFrequentClass) {
  RunView view = testing::grid();
  view.guess = 0.45;  // the mean error of the best candidate
  EXPECT_HAS(said(view),
             "The validation error of the best candidate is 45.0 %, and always answering the most frequent "
             "class gives 45.0 %");
  view.best.reset();
  view.test = TestResult{30, 50};
  EXPECT_HAS(said(view), "The test error is 60.0 %");
}

TEST(Cautions, AreSilentAboutTrainingRowsOfOneClass) {
  RunView view = testing::grid();
  view.guess = 0;
  view.class_rows = {0, 100};
  EXPECT_EQ(said(view), "");
}

// The grid's best candidate errs on 40, 45 and 50 % of the rows.
TEST(Cautions, NameAResultThatMayBeAsGoodByChance) {
  RunView view = testing::grid();
  view.guess = 0.46;
  EXPECT_HAS(said(view), "the difference is within one standard error, ");
  view.guess = 0.6;
  EXPECT_EQ(said(view), "");
}

TEST(Cautions, CompareEveryMeasureWithAConstantAnswer) {
  struct Case {
    const char* metric;
    bool larger;
    double constant;
  };
  // Three quarters of 100 rows belong to class 0.
  for (const Case& one : {Case{"balanced_error", false, 0.5}, Case{"recall", true, 0.5}, Case{"precision", true, 0.375},
                          Case{"f1", true, 3.0 / 7}, Case{"auc", true, 0.5}, Case{"log_loss", false, 0.562335}}) {
    RunView view = testing::grid();
    view.guess = 0.25;
    view.data_classes = 2;
    view.class_rows = {75, 25};
    view.metrics = {{one.metric, false, true, one.larger}};
    const auto constant = constant_answer(view, one.metric);
    ASSERT_TRUE(constant) << one.metric;
    EXPECT_NEAR(*constant, one.constant, 1e-6) << one.metric;
    const double sign = one.larger ? 1 : -1;
    for (const double better : {0.0, 0.1}) {
      for (journal::FitRecord& record : view.records) record.values = {*constant + sign * better};
      EXPECT_EQ(said(view).find("has learned nothing") != std::string::npos, better == 0) << one.metric << said(view);
    }
  }
}

TEST(Cautions, NameTheOnlyAnswerOnTheTestRows) {
  RunView view = testing::grid();
  view.guess = 0.9;
  view.class_rows = {5, 40, 5};
  view.class_names = {"a", "benign", "c"};
  view.data_classes = 3;
  view.test = TestResult{2, 10, std::nullopt, data::Confusion{3, {0, 1, 0, 0, 8, 0, 0, 1, 0}}};
  EXPECT_HAS(said(view),
             "The model answers 'benign' for every test row. The test error is 20.0 %, and always answering");
  view.test->confusion->counts = {1, 0, 0, 0, 8, 0, 0, 1, 0};
  EXPECT_EQ(said(view).find("for every test row"), std::string::npos);
}

// The test set holds more of the frequent class than the training set.
TEST(Cautions, CompareTheTestErrorWithAConstantAnswerOnTheTestRows) {
  RunView view = testing::grid();
  view.guess = 0.5;
  view.class_rows = {50, 50};
  view.data_classes = 2;
  view.best.reset();
  view.test = TestResult{2, 10, std::nullopt, data::Confusion{2, {8, 1, 1, 0}}};
  EXPECT_HAS(said(view), "The test error is 20.0 %, and always answering the most frequent class gives 10.0 %");
}

TEST(Cautions, NameAPredictionNoBetterThanTheMean) {
  RunView view = testing::grid();
  view.data_classes = 0;
  view.guess = 2;
  view.test = TestResult{0, 50, 2.5};
  EXPECT_HAS(said(view), "The test MSE is 2.5, and always answering the mean gives 2");
}

TEST(Cautions, NameALossThatExplodesButStaysFinite) {
  RunView view = testing::grid();
  view.records[3].curves = {{"train_loss", {2.0, 1e6}}};
  view.records[4].curves = {{"train_loss", {2.0, 1.0}}};
  view.records[5].curves = {{"train_loss", {std::nan("")}}};  // this fit failed, and counts as failed
  EXPECT_HAS(said(view), "The training loss of 1 fit exploded, up to 1e6 (fit 3: candidate 1, fold 1)");
}

TEST(Cautions, NameABestCandidateWhoseErrorsDependOnTheSolver) {
  RunView view = testing::grid();
  const uint32_t folds = view.plan.fits_per_candidate(), first = *view.best * folds;
  const auto leave_open = [&](int64_t rows) {
    for (uint32_t fold = 0; fold < folds; ++fold) {
      journal::FitRecord& record = view.records[first + fold];
      record.n = 100;
      record.note = "steps=9 unsure=" + std::to_string(rows);
    }
  };
  leave_open(2);
  EXPECT_EQ(said(view), "");
  leave_open(3);
  EXPECT_HAS(said(view), fmt::format("leaves the class of {} of its {} validated rows open", 3 * folds, 100 * folds));
}

TEST(Cautions, NameABestCandidateOnTheEdgeOfItsGrid) {
  RunView view = testing::grid(3, 2);  // two values of gamma make no edge
  view.grid = true;
  EXPECT_HAS(said(view), "on the edge of the grid: C = 100 is the largest value that was tried");
  EXPECT_HAS_NOT(said(view), "gamma");
  view.best = 2;  // C = 10
  EXPECT_EQ(said(view), "");
  view.best = 0;
  EXPECT_HAS(said(view), "C = 1 is the smallest");
  for (journal::FitRecord& record : view.records) record.values = {3, 0.3};
  EXPECT_EQ(said(view), "") << "the values inside are as good";
  view = testing::grid();
  view.grid = false;
  EXPECT_EQ(said(view), "") << "a random search has no edge";
}

}  // namespace
}  // namespace mokume::results
