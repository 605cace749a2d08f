#include "results/cautions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
