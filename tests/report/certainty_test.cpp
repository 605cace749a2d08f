// The box plots of the members' certainty of one row.
#include <gtest/gtest.h>

#include "report/charts/certainty_plot.hpp"
#include "report/support.hpp"

namespace mokume::report {
namespace {

using results::testing::twelve_members;
using testing::occurrences;
using testing::xml_fault;

TEST(CertaintySvg, HasABoxForEachClassAndBothColourSchemes) {
  const std::string svg = certainty_svg(twelve_members(), "digit <7>.png");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "class=\"median\""), 10U);
  EXPECT_EQ(occurrences(svg, "<circle"), 120U) << "every member is drawn";
  EXPECT_EQ(occurrences(svg, "<g class=\"top\">"), 1U) << "the vote stands out";
  EXPECT_HAS(svg, "vote: 7 (11 of 12 members), mean certainty 0.8");
  EXPECT_HAS(svg, "digit &lt;7&gt;.png");
  EXPECT_HAS(svg, "prefers-color-scheme:dark");
  EXPECT_HAS_NOT(svg, "nan");
}

TEST(CertaintySvg, ShowsThePictureNextToTheBoxes) {
  const results::Thumbnail picture{3, 2, {0, 255, 255, 17, 0, 0}};
  const std::string svg = certainty_svg(twelve_members(), "a", picture), bare = certainty_svg(twelve_members(), "a");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "fill=\"#ffffff\""), 1U) << "equal neighbours are one rectangle";
  EXPECT_EQ(occurrences(svg, "fill=\"#111111\""), 1U);
  EXPECT_EQ(occurrences(bare, "fill=\"#"), 0U);
}

TEST(CertaintySvg, TakesAnyNumberOfClassesAndMembers) {
  results::Certainty many{std::vector<std::string>(1000, "a class"),
                          std::vector<std::vector<double>>(50, std::vector<double>(1000, 0.001))};
  const std::string svg = certainty_svg(many, "x");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "class=\"median\""), 40U);
  EXPECT_HAS(svg, "the 40 most likely of 1000 classes");
}

TEST(CertaintySvg, ShowsOneModel) {
  results::Certainty one{{"cat", "dog"}, {{0.25, 0.75}}};
  EXPECT_EQ(xml_fault(certainty_svg(one, "x.png")), "");
  one = {{"cat", "dog"}, {{0, 1}}, false};
  EXPECT_HAS(certainty_svg(one, "a"), "the model gives no probabilities");
  EXPECT_HAS_NOT(certainty_svg(one, "a"), "certainty 1.000");
  const double sure = 1 - 0x1p-53;
  const results::Certainty nearly{{"cat", "dog"}, {3, {1 - sure, sure}}};
  EXPECT_HAS(certainty_svg(nearly, "a"), "mean certainty &gt;0.999 (sd 0.000)");
}

}  // namespace
}  // namespace mokume::report
