#include "search/published_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "numpy_vectors.hpp"
#include "sdk/error.hpp"

namespace mokume::search {
namespace {

using Kind = Space::Kind;

constexpr const char* kStudySeed = "169514335042358758700408908237337905507";
constexpr int64_t kStudyRows = 60000;

const std::vector<Space>& study_spaces() {
  static const std::vector<Space> spaces{{Kind::integer_uniform, "n_conv_layer", {}, 1, 999},
                                         {Kind::integer_uniform, "kernel_size", {}, 2, 10},
                                         {Kind::integer_uniform, "n_hidden_layer", {}, 1, 1999},
                                         {Kind::log10_uniform, "learning_rate", {}, -5, -1},
                                         {Kind::log10_uniform, "momentum", {}, -2, 0}};
  return spaces;
}

const std::vector<BootstrapDraws>& study() {
  static const auto draws = published_draws(kStudySeed, 12, 12, study_spaces(), kStudyRows, 5);
  return draws;
}

struct Published {
  uint32_t bootstrap, candidate;
  int64_t n_conv_layer, kernel_size, n_hidden_layer;
  double learning_rate, momentum;
};

void expect_close(const Value& value, double published) {
  EXPECT_NEAR(std::get<double>(value), published, 1e-15 * published);
}

void expect_published(const Published& row) {
  SCOPED_TRACE("bootstrap " + std::to_string(row.bootstrap) + ", candidate " + std::to_string(row.candidate));
  const std::vector<Value>& drawn = study().at(row.bootstrap).candidates.at(row.candidate);
  ASSERT_EQ(drawn.size(), 5U);
  EXPECT_EQ(std::get<int64_t>(drawn[0]), row.n_conv_layer);
  EXPECT_EQ(std::get<int64_t>(drawn[1]), row.kernel_size);
  EXPECT_EQ(std::get<int64_t>(drawn[2]), row.n_hidden_layer);
  expect_close(drawn[3], row.learning_rate);
  expect_close(drawn[4], row.momentum);
}

TEST(PublishedDraws, MatchCandidatesOfTheStudy) {
  ASSERT_EQ(study().size(), 12U);
  for (const BootstrapDraws& draws : study()) EXPECT_EQ(draws.candidates.size(), 12U);
  for (const Published& row : {Published{0, 0, 612, 7, 1530, 1.8063296961409906e-05, 0.14045005807110375},
                               Published{0, 1, 690, 10, 903, 0.09547472247097157, 0.6976181687765763},
                               Published{0, 2, 210, 8, 1280, 4.725187243202173e-05, 0.4269988781184705},
                               Published{1, 0, 475, 3, 43, 1.636392960098509e-05, 0.25936327768267275},
                               Published{11, 11, 773, 9, 1458, 0.0004929520890514616, 0.06358585092549487}})
    expect_published(row);
}

TEST(PublishedDraws, MatchAllCandidatesOfTheStudy) {
  const char* const data = std::getenv("MOKUME_DATA");
  std::ifstream file(data == nullptr ? std::string() : std::string(data) + "/../oracles/nn_params_12x12.csv");
  if (!file) GTEST_SKIP() << "MOKUME_DATA names no directory beside oracles/: the study's 144 draws are not checked";
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line.find("bootstrap,candidate,n_conv_layer,kernel_size,n_hidden_layer,learning_rate,momentum"), 0U);
  int rows = 0;
  for (; std::getline(file, line); ++rows) {
    std::istringstream fields(line);
    Published row{};
    char comma = 0;
    fields >> row.bootstrap >> comma >> row.candidate >> comma >> row.n_conv_layer >> comma >> row.kernel_size >>
        comma >> row.n_hidden_layer >> comma >> row.learning_rate >> comma >> row.momentum;
    ASSERT_TRUE(fields) << line;
    expect_published(row);
  }
  EXPECT_EQ(rows, 144);
}

TEST(PublishedDraws, MatchSamplesOfTheStudy) {
  ASSERT_EQ(study().size(), vectors::kStudySamples.size());
  for (size_t b = 0; b < study().size(); ++b) {
    SCOPED_TRACE("bootstrap " + std::to_string(b));
    const std::vector<uint32_t>& row = study()[b].row;
    const vectors::StudySample& sample = vectors::kStudySamples[b];
    ASSERT_EQ(row.size(), static_cast<size_t>(kStudyRows));
    for (size_t i = 0; i < sample.first.size(); ++i) EXPECT_EQ(row[i], sample.first[i]);
    EXPECT_EQ(row.back(), sample.last);
    uint64_t weighted_sum = 0;
    for (size_t i = 0; i < row.size(); ++i) weighted_sum += (i + 1) * row[i];
    EXPECT_EQ(weighted_sum, sample.weighted_sum);
    ASSERT_EQ(study()[b].fold_of.size(), row.size());
    for (size_t i = 0; i < row.size(); ++i) ASSERT_EQ(study()[b].fold_of[i], static_cast<int32_t>(i / 12000));
  }
}

// Covers sizes that folds do not divide, halves that doubles round the other way (29 in 14), a single row, and no
// folds.
TEST(PublishedDraws, MatchFoldsListsAndRealsOfAnySize) {
  const std::vector<Space> spaces{{Kind::list, "l", {std::string("relu"), 2.5, true}, 0, 0},
                                  {Kind::real_uniform, "r", {}, -2, 9.5}};
  for (const vectors::SmallStudy& small : vectors::kSmallStudies) {
    SCOPED_TRACE(std::to_string(small.rows) + " rows in " + std::to_string(small.folds) + " folds");
    const BootstrapDraws draws = published_draws("7", 2, 3, spaces, small.rows, small.folds).at(1);
    EXPECT_EQ(draws.row, small.row);
    ASSERT_EQ(draws.fold_of.size(), small.row.size());
    for (size_t k = 0; k + 1 < small.edges.size(); ++k)
      for (int64_t i = small.edges[k]; i < small.edges[k + 1]; ++i)
        EXPECT_EQ(draws.fold_of[static_cast<size_t>(i)], small.folds == 0 ? -1 : static_cast<int32_t>(k)) << i;
    ASSERT_EQ(draws.candidates.size(), 3U);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(draws.candidates[c].at(0), spaces[0].values[static_cast<size_t>(small.index[c])]);
      EXPECT_EQ(std::get<double>(draws.candidates[c].at(1)), small.real[c]);
    }
  }
}

// A longer study begins like a shorter one, so a part of a study can be replayed.
TEST(PublishedDraws, ABootstrapDoesNotDependOnTheNumberOfLaterOnes) {
  const auto two = published_draws(kStudySeed, 2, 3, study_spaces(), kStudyRows, 5);
  ASSERT_EQ(two.size(), 2U);
  for (size_t b = 0; b < 2; ++b) {
    EXPECT_EQ(two[b].row, study()[b].row);
    ASSERT_EQ(two[b].candidates.size(), 3U);
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(two[b].candidates[c], study()[b].candidates[c]);
  }
  EXPECT_TRUE(published_draws(kStudySeed, 0, 12, study_spaces(), kStudyRows, 5).empty());
}

TEST(PublishedDraws, IntegersIncludeBothEnds) {
  const std::vector<Space> spaces{{Kind::integer_uniform, "one", {}, -4, -4}, {Kind::integer_uniform, "two", {}, 0, 1}};
  const auto draws = published_draws("7", 1, 64, spaces, 1, 0);
  int ones = 0;
  for (const std::vector<Value>& candidate : draws.at(0).candidates) {
    EXPECT_EQ(std::get<int64_t>(candidate.at(0)), -4);
    ones += static_cast<int>(std::get<int64_t>(candidate.at(1)));
  }
  EXPECT_GT(ones, 0);
  EXPECT_LT(ones, 64);
}

struct Wrong {
  const char* seed;
  uint32_t bootstraps, candidates;
  Space space;
  int64_t rows;
  uint32_t folds;
  const char* said;
};

TEST(PublishedDraws, RefuseSpacesThatCannotBeDrawn) {
  const Space good{Kind::real_uniform, "lr", {}, 0, 1};
  const double infinite = std::numeric_limits<double>::infinity();
  for (const Wrong& wrong :
       {Wrong{"", 1, 1, good, 9, 3, "seed is empty"}, Wrong{"seed", 1, 1, good, 9, 3, "character 1 of the seed"},
        Wrong{"7", 1, 1, good, 0, 0, "not 0"}, Wrong{"7", 1, 1, good, -3, 0, "not -3"},
        Wrong{"7", 1, 1, good, (int64_t{1} << 32) + 1, 5, "not 4294967297"}, Wrong{"7", 1, 1, good, 9, 10, "10 folds"},
        Wrong{"7", UINT32_MAX, UINT32_MAX, good, 9, 3, "10 million"},
        Wrong{"7", 1, 1, {Kind::list, "act", {}, 0, 0}, 9, 3, "'act' has an empty list"},
        Wrong{"7", 1, 1, {Kind::real_uniform, "lr", {}, 1, 0}, 9, 3, "'lr' has its ends"},
        Wrong{"7", 1, 1, {Kind::log10_uniform, "lr", {}, 0, infinite}, 9, 3, "'lr' needs two fin"},
        Wrong{"7", 1, 1, {Kind::integer_uniform, "k", {}, 0, 0x1p54}, 9, 3, "'k' needs integers"}})
    try {
      published_draws(wrong.seed, wrong.bootstraps, wrong.candidates, {wrong.space}, wrong.rows, wrong.folds);
      ADD_FAILURE() << "taken, though: " << wrong.said;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
      EXPECT_NE(std::string(error.what()).find(wrong.said), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace mokume::search
