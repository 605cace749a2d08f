#include "run/exemplars.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

// Makes 20 rows of 2 x 2 pixels and two classes. Row r becomes more doubtful as r grows.
struct Rows {
  data::Dataset data;
  std::vector<double> certainty;
  std::vector<size_t> vote;

  Rows() {
    data.class_names = {"cat", "dog"};
    data.shape = {2, 2, 1};
    data.mean = {100};
    data.scale = {50};
    data.test.rows = 20;
    data.test.features = 4;
    for (int r = 0; r < 20; ++r) {
      for (int f = 0; f < 4; ++f) data.test.x.push_back(static_cast<float>(f - 1));
      data.test.labels.push_back(r % 4 == 0 ? 1 : 0);  // the vote takes every fourth row for a cat
      certainty.insert(certainty.end(), {4 - 0.09 * r, 0.09 * r});
      vote.push_back(0);
    }
  }
};

std::vector<int64_t> rows_of(const std::vector<results::Exemplar>& all, const std::string& kind) {
  std::vector<int64_t> rows;
  for (const results::Exemplar& one : all)
    if (one.kind == kind) rows.push_back(one.row);
  return rows;
}

TEST(Exemplars, AreTheSureTheWrongAndTheDoubtful) {
  const Rows rows;
  const auto chosen = choose_exemplars(rows.data, rows.certainty, rows.vote);
  EXPECT_EQ(rows_of(chosen, "easy"), (std::vector<int64_t>{1, 2, 3, 5}));
  EXPECT_EQ(rows_of(chosen, "misclassified"), (std::vector<int64_t>{0, 4, 8, 12}));
  EXPECT_EQ(rows_of(chosen, "uncertain"), (std::vector<int64_t>{19, 18, 17, 16}));
  EXPECT_EQ(chosen[0].label, "cat");
  EXPECT_EQ(chosen[0].picture.grey, (std::vector<uint8_t>{50, 100, 150, 200})) << "as it was before the scaling";
}

TEST(Exemplars, RoundTripThroughJson) {
  const Rows rows;
  auto chosen = choose_exemplars(rows.data, rows.certainty, rows.vote);
  for (results::Exemplar& one : chosen) one.certainty.members = {{0.25, 0.75}, {1, 0}};
  const auto back = base::from_json<std::vector<results::Exemplar>>(base::to_json(chosen));
  ASSERT_EQ(back.size(), chosen.size());
  EXPECT_EQ(back[5].row, chosen[5].row);
  EXPECT_EQ(back[5].certainty.members, chosen[5].certainty.members);
  EXPECT_EQ(back[5].picture.grey, chosen[5].picture.grey);
}

TEST(Exemplars, AreRefusedIfDamaged) {
  const Rows rows;
  auto chosen = choose_exemplars(rows.data, rows.certainty, rows.vote);
  for (results::Exemplar& one : chosen) one.certainty.members = {{0.25, 0.75}};
  const auto good = base::parse_json(base::to_json(chosen.front()));
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(check(base::from_json<results::Exemplar>(bad), rows.data.class_names.size()), Error) << key << value;
  };
  refused("members", nlohmann::json::array());
  refused("members", {{0.5}});
  refused("members", {{0.5, "many"}});
  refused("members", {{0.5, 7}});
  refused("width", 100000);
  refused("width", 3);
  refused("grey", {1, 2, 3, 256});
  refused("row", -1);
  refused("kind", 1);
}

TEST(Thumbnail, IsTheMeanOfSquares) {
  const std::vector<double> six = {0, 255, 300, -4, 7.5, std::nan("")};
  EXPECT_EQ(thumbnail(3, 2, six).grey, (std::vector<uint8_t>{0, 255, 255, 0, 8, 0})) << "as it is";
  std::vector<double> wide(130, 10);
  wide[129] = 40;
  const results::Thumbnail small = thumbnail(130, 1, wide);
  EXPECT_EQ(small.width, 44U) << "130 / 3";
  EXPECT_EQ(small.height, 1U);
  EXPECT_EQ(small.grey.front(), 10);
  EXPECT_EQ(small.grey.back(), 40) << "of one pixel";
  const results::Thumbnail large = thumbnail(700, 1400, std::vector<double>(700 * 1400, 9));
  EXPECT_EQ(large.height, 64U);
  EXPECT_EQ(large.grey.size(), large.width * large.height);
}

}  // namespace
}  // namespace mokume::run
