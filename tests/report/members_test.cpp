// Tests the section of a report about the members of an ensemble.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::grid;
using testing::occurrences;
using testing::page;
using testing::xml_fault;

// Returns three bootstraps with one candidate each, whose folds err by (9 - c) + fold of 10 rows.
results::RunView ensemble() {
  results::RunView view = grid(3, 1);
  view.plan.bootstraps = 3;
  view.plan.own_candidates = 1;
  view.best.reset();
  for (uint32_t m = 0; m < 3; ++m) testing::add_refit(view, m, m, 5 + m);
  view.vote = results::Vote{{4, 50, std::nullopt}, 3, {}};
  view.test = view.vote->test;
  return view;
}

TEST(Members, AreShownWithTheirVote) {
  const std::string text = page(ensemble());
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_HAS(text, "between 10.00 % and 14.00 %, with a median of 12.00 %; that of their vote is 8.00 %.");
  EXPECT_HAS(text, "Test error, vote of 3");
  EXPECT_HAS(text, "vote 8.00 %</text>");
}

TEST(Members, HaveTheirValidationInTheHeadline) {
  results::RunView view = ensemble();
  const std::string tile =
      "<span>Validation, mean error</span><b>85.00\u00A0%</b><span>median of 3 members, 75.00\u00A0% "
      "to 95.00\u00A0%</span>";
  EXPECT_HAS(page(view), tile) << page(view).substr(page(view).find("<span>Validation"), 300);
  view.refits.clear();
  EXPECT_HAS(page(view), "no member yet");
}

// Many full-size pictures would push everything else off the page.
TEST(Members, ShowTwoPicturesOfEachKindAtOnce) {
  results::RunView view = ensemble();
  for (const char* kind : {"easy", "misclassified"})
    for (int64_t row = 0; row < (kind[0] == 'e' ? 4 : 2); ++row)
      view.vote->exemplars.push_back({kind, row, "cat", {{"cat", "dog"}, {{0.75, 0.25}, {0.5, 0.5}}}, {}});
  const std::string text = page(view);
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_EQ(occurrences(text, ">test row "), 6U);
  const size_t fold = text.find("<summary>2 more</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_EQ(text.find("<summary>2 more</summary>", fold + 1), std::string::npos) << "of the second kind there are two";
  EXPECT_LT(text.find(">test row 1:"), fold);
  EXPECT_GT(text.find(">test row 2:"), fold);
  EXPECT_GT(text.find("Certain but wrong"), fold);
}

}  // namespace
}  // namespace mokume::report
