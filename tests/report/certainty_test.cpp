// Tests the members' vote on one row, and their disagreement.
#include "report/certainty.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "report/charts/certainty_plot.hpp"
#include "report/support.hpp"

namespace mokume::report {
namespace {

using testing::occurrences;
using testing::xml_fault;

std::vector<std::string> digits(size_t n = 10) {
  std::vector<std::string> names;
  for (size_t c = 0; c < n; ++c) names.push_back(std::to_string(c));
  return names;
}

// Returns twelve members: eleven are certain of 7, and one of 1.
results::Certainty twelve() {
  results::Certainty certainty;
  for (int c = 0; c < 10; ++c) certainty.classes.push_back(std::to_string(c));
  for (int m = 0; m < 12; ++m) {
    const double sure = 0.9 + 0.005 * m;
    std::vector<double> row(10, (1 - sure) / 9);
    row[m == 3 ? 1 : 7] = sure;
    certainty.members.push_back(row);
  }
  return certainty;
}

TEST(Certainty, TheMajorityDecides) {
  const results::Certainty c{{"a", "b", "c"}, {{0.4, 0.35, 0.25}, {0.5, 0.3, 0.2}, {0.0, 1.0, 0.0}}};
  const EnsembleVote v = take_vote(c);
  EXPECT_EQ(v.winner, 0U) << "b has the higher mean, a has more votes";
  EXPECT_EQ(v.votes, (std::vector<uint32_t>{2, 1, 0}));
  EXPECT_NEAR(v.mean[1], 0.55, 1e-15);
  EXPECT_NEAR(v.sd[0], std::sqrt(0.07), 1e-15);  // deviation of 0.4, 0.5 and 0
}

TEST(Certainty, TiesGoToTheHigherMeanThenToTheFirst) {
  EXPECT_EQ(take_vote({{"a", "b", "c"}, {{0.6, 0.4, 0}, {0.1, 0.2, 0.7}}}).winner, 0U) << "0.35 and 0.35: the first";
  EXPECT_EQ(take_vote({{"a", "b", "c"}, {{0.6, 0.4, 0}, {0, 0.2, 0.8}}}).winner, 2U) << "one vote each, 0.3 and 0.4";
  EXPECT_EQ(take_vote({{"a", "b"}, {{0.5, 0.5}}}).winner, 0U) << "a member's own tie";
}

TEST(Certainty, DisagreementDiffersFromIndecision) {
  const double two = std::log(2.0);
  const EnsembleVote undecided = take_vote({{"a", "b"}, {{0.5, 0.5}, {0.5, 0.5}}});
  EXPECT_NEAR(undecided.entropy, two, 1e-15);
  EXPECT_EQ(undecided.mutual_information, 0);
  const EnsembleVote torn = take_vote({{"a", "b"}, {{1, 0}, {0, 1}}});
  EXPECT_NEAR(torn.entropy, two, 1e-15);
  EXPECT_NEAR(torn.mutual_information, two, 1e-15);
  const EnsembleVote sure = take_vote({{"a", "b"}, {{1, 0}, {1, 0}}});
  EXPECT_EQ(sure.entropy, 0);
  EXPECT_EQ(sure.mutual_information, 0);
  // The mutual information is H(0.7, 0.3) - (H(0.9, 0.1) + H(0.5, 0.5)) / 2.
  const EnsembleVote mixed = take_vote({{"a", "b"}, {{0.9, 0.1}, {0.5, 0.5}}});
  EXPECT_NEAR(mixed.entropy, 0.6108643020548935, 1e-12);
  EXPECT_NEAR(mixed.mutual_information, 0.6108643020548935 - (0.3250829733914482 + two) / 2, 1e-12);
}

TEST(Certainty, OneModelIsAnEnsembleOfOne) {
  const results::Certainty one{{"cat", "dog"}, {{0.25, 0.75}}};
  const EnsembleVote v = take_vote(one);
  EXPECT_EQ(v.mean, one.members[0]);
  EXPECT_EQ(v.sd, (std::vector<double>{0, 0}));
  EXPECT_EQ(v.mutual_information, 0);
  EXPECT_EQ(certainty_digits(1), "1.000");
  EXPECT_EQ(certainty_digits(0.9996), ">0.999");
  EXPECT_EQ(certainty_digits(0.0004), "<0.001");
  EXPECT_EQ(certainty_digits(0), "0.000");
  const double sure = 1 - 0x1p-53;
  const results::Certainty nearly{{"cat", "dog"}, std::vector<std::vector<double>>(3, {1 - sure, sure})};
  EXPECT_LT(take_vote(nearly).mean[1], 1);
  EXPECT_HAS(certainty_text(nearly), "mean certainty: >0.999 (sd 0.000)");
  EXPECT_HAS(certainty_text(nearly), "\n> dog   >0.999  0.000");
  const std::string text = certainty_text(one);
  EXPECT_HAS(text, "vote: dog\nmean certainty: 0.750\nentropy of the mean: 0.562 of at most 0.693 nats\n");
  EXPECT_HAS_NOT(text, "mutual") << "one member contradicts nobody";
}

TEST(Certainty, IsComparedWithThatOfTheTestRows) {
  const std::vector<double> doubt{0.1, 0.2, 0.3, 0.4};
  EXPECT_EQ(share_below(doubt, 0.05), 0);
  EXPECT_EQ(share_below(doubt, 0.1), 0) << "equal is not below";
  EXPECT_EQ(share_below(doubt, 0.25), 0.5);
  EXPECT_EQ(share_below(doubt, 9), 1);
  const results::Certainty one{{"cat", "dog"}, {{0.25, 0.75}}};
  const std::string text = certainty_text(one, kTextWidth, doubt);
  EXPECT_HAS(text, "0.562 of at most 0.693 nats\n  100 % of the test rows have less (median 0.300)\n");
  EXPECT_HAS_NOT(certainty_text(one), "test rows") << "not known";
}

TEST(Certainty, AModelWithoutProbabilitiesShowsNone) {
  results::Certainty one{{"cat", "dog"}, {{0, 1}}};
  one.probable = false;
  EXPECT_EQ(certainty_text(one),
            "vote: dog\nthe model gives no probabilities; validation.calibrate = true learns them in the run\n");
}

TEST(CertaintyText, DrawsABoxForEachClass) {
  const std::string text = certainty_text(twelve());
  EXPECT_HAS(text, "vote: 7 (11 of 12 members)\n");
  EXPECT_HAS(text, "\n> 7  ") << "the vote is marked" << text;
  EXPECT_EQ(occurrences(text, "\n> "), 1U);
  EXPECT_EQ(occurrences(text, "#"), 10U) << "a median each";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
  // For class 7, one member is at 0 (an outlier), and the others are near 0.93.
  const size_t seven = text.find("> 7");
  const std::string row = text.substr(seven, text.find('\n', seven) - seven);
  EXPECT_HAS(row, "    11  o") << row;
  EXPECT_LT(row.find('['), row.find('#')) << row;
  EXPECT_LT(row.find('#'), row.find(']')) << row;
}

TEST(CertaintyText, KeepsToTheWidthAndTheMostLikelyClasses) {
  results::Certainty many{digits(1000), {std::vector<double>(1000, 0.0005)}};
  many.classes[999] = "a name that is much too long for a line \x1b[2J";
  many.members[0][999] = 0.5005;
  for (const size_t width : {40U, 60U, 200U}) {
    const std::string text = certainty_text(many, width);
    EXPECT_HAS(text, "and 980 classes with lower mean certainty");
    EXPECT_HAS_NOT(text, '\x1b');
    EXPECT_HAS(text, "\n> a name that is");
    const size_t row = text.find("\n> ") + 1;
    EXPECT_LE(text.find('\n', row) - row, width + 2) << "the ellipsis has three bytes";
  }
}

TEST(CertaintySvg, HasABoxForEachClassAndBothColourSchemes) {
  const std::string svg = certainty_svg(twelve(), "digit <7>.png");
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
  const std::string svg = certainty_svg(twelve(), "a", picture), bare = certainty_svg(twelve(), "a");
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
