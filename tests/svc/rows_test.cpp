// Tests row order, binary problems and votes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "concurrency.hpp"
#include "rows.hpp"

namespace mokume::svc {
namespace {

struct Rows {
  std::vector<int32_t> labels, folds;
  std::vector<uint32_t> row;
  mk_data data{};
  mk_sample sample{};
  mk_experiment experiment{};

  Rows(int64_t n, int32_t classes, uint32_t n_folds) {
    for (int64_t r = 0; r < n; ++r) {
      labels.push_back(static_cast<int32_t>((r * 7 + r / 5) % classes));
      folds.push_back(static_cast<int32_t>((r * 3) % n_folds));
      row.push_back(static_cast<uint32_t>(r));
    }
    data.rows = n;
    data.features = 1;
    data.labels = labels.data();
    data.n_classes = classes;
    experiment.train = &data;
    sample = {n, row.data(), folds.data()};
    experiment.samples = &sample;
    experiment.n_bootstraps = 1;
    experiment.n_folds = n_folds;
  }
};

TEST(RowOrder, SortsByFoldThenClassThenRow) {
  const Rows rows(103, 4, 5);
  const RowOrder order(rows.experiment, 0);
  EXPECT_EQ(order.rows(), 103);
  EXPECT_EQ(order.stride(), 112);
  for (int64_t r = 1; r < order.rows(); ++r) {
    const auto key = [&](int64_t k) {
      const auto o = static_cast<size_t>(order.original(k));
      return std::tuple(rows.folds[o], rows.labels[o], o);
    };
    EXPECT_LT(key(r - 1), key(r));
  }
  int64_t total = 0;
  for (uint32_t f = 0; f < 5; ++f) total += order.fold_rows(f);
  EXPECT_EQ(total, 103);
}

TEST(MarkRows, RowsOfNoFoldAreAlwaysTrainedOn) {
  Rows rows(100, 2, 1);
  for (size_t r = 0; r < rows.folds.size(); ++r) rows.folds[r] = r % 4 == 0 ? 0 : -1;
  const RowOrder order(rows.experiment, 0);
  EXPECT_EQ(order.fold_begin(0), 75);
  EXPECT_EQ(order.fold_rows(0), 25);
  for (const int32_t fold : {MK_ALL_ROWS, 0}) {
    std::vector<int8_t> sign(static_cast<size_t>(order.stride()));
    std::vector<int32_t> spans(2 * kMaxSpans);
    mark_rows(order, {fold, 0, 1}, sign.data(), spans.data());
    for (int64_t r = 0; r < order.rows(); ++r)
      EXPECT_EQ(sign[static_cast<size_t>(r)] != 0, fold == MK_ALL_ROWS || r < 75) << r;
  }
}

TEST(MarkRows, SpansCoverExactlyTheRowsWithASign) {
  for (const int32_t classes : {2, 4, 10, 90}) {
    const Rows rows(3000, classes, 5);
    const RowOrder order(rows.experiment, 0);
    for (const Multiclass kind : {Multiclass::one_vs_rest, Multiclass::one_vs_one}) {
      for (const int32_t fold : {MK_ALL_ROWS, 0, 2, 4}) {
        for (const BinaryProblem& p : binary_problems(classes, kind, fold)) {
          std::vector<int8_t> sign(static_cast<size_t>(order.stride()), 9);
          std::vector<int32_t> spans(2 * kMaxSpans, 77);
          const int32_t start = mark_rows(order, p, sign.data(), spans.data());
          int64_t last_positive = -1;  // in the order of the data
          std::vector<bool> covered(sign.size(), false);
          int32_t last = -1;
          size_t k = 0;
          for (; spans[2 * k] >= 0; ++k) {
            ASSERT_LT(k, static_cast<size_t>(kMaxSpans) - 1);
            ASSERT_GE(spans[2 * k], last);
            last = spans[2 * k + 1];
            for (int64_t r = spans[2 * k] * kBlock; r < last * kBlock; ++r) covered[static_cast<size_t>(r)] = true;
          }
          for (int64_t r = 0; r < order.stride(); ++r) {
            const auto at = static_cast<size_t>(r);
            int expected = 0;
            if (r < order.rows() && rows.folds[static_cast<size_t>(order.original(r))] != fold) {
              if (order.label(r) == p.positive) {
                expected = p.sign();
              } else if (p.negative == BinaryProblem::kRest || order.label(r) == p.negative) {
                expected = -p.sign();
              }
            }
            ASSERT_EQ(sign[at], expected);
            if (expected > 0) last_positive = std::max(last_positive, order.original(r));
            ASSERT_TRUE(expected == 0 || covered[at]);
          }
          ASSERT_EQ(start < 0 ? -1 : order.original(start), last_positive);
        }
      }
    }
  }
}

TEST(PredictClass, TiesGoToTheLowerClass) {
  const float rest[] = {0.5F, 0.5F, -1};
  EXPECT_EQ(predict_class(&rest[0], 3, Multiclass::one_vs_rest), 0);
  const float two[] = {0.0F};
  EXPECT_EQ(predict_class(&two[0], 2, Multiclass::one_vs_rest), 1);  // LIBSVM: positive means the first class
  const float circle[] = {1, -1, 1};                                 // 0 beats 1, 2 beats 0, 1 beats 2
  EXPECT_EQ(predict_class(&circle[0], 3, Multiclass::one_vs_one), 0);
  const float clear[] = {-1, 1, 1};  // 1 beats 0, 0 beats 2, 1 beats 2
  EXPECT_EQ(predict_class(&clear[0], 3, Multiclass::one_vs_one), 1);
}

TEST(BinaryProblems, ComeInDecisionOrder) {
  EXPECT_EQ(binary_problems(2, Multiclass::one_vs_rest, 0).size(), 1U);
  EXPECT_EQ(binary_problems(5, Multiclass::one_vs_rest, 0).size(), 5U);
  const auto pairs = binary_problems(4, Multiclass::one_vs_one, 1);
  ASSERT_EQ(pairs.size(), 6U);
  EXPECT_EQ(pairs[1].positive, 0);
  EXPECT_EQ(pairs[1].negative, 2);
  EXPECT_EQ(pairs[5].positive, 2);
  EXPECT_EQ(pairs[5].fold, 1);
}

TEST(MarkRows, ARegressionHasRowsOfOneSign) {
  Rows rows(103, 4, 5);
  std::vector<float> targets(rows.labels.begin(), rows.labels.end()), weights(targets.size(), 1.0F);
  weights[7] = 0;
  rows.data.n_classes = 0;
  rows.data.labels = nullptr;
  rows.data.targets = targets.data();
  rows.data.weights = weights.data();
  const RowOrder order(rows.experiment, 0);
  for (const int32_t fold : {MK_ALL_ROWS, 0, 4}) {
    std::vector<int8_t> sign(static_cast<size_t>(order.stride()));
    std::vector<int32_t> spans(2 * kMaxSpans);
    EXPECT_EQ(mark_rows(order, {fold, 0, 1}, sign.data(), spans.data()), -1);
    for (int64_t r = 0; r < order.stride(); ++r) {
      const bool out = r >= order.rows() || order.original(r) == 7 ||
                       (fold != MK_ALL_ROWS && r >= order.fold_begin(static_cast<uint32_t>(fold)) &&
                        r < order.fold_begin(static_cast<uint32_t>(fold) + 1));
      EXPECT_EQ(sign[static_cast<size_t>(r)], out ? 0 : 1) << r;
    }
  }
}

TEST(RowOrder, CentresTargetsAndKnowsTheirDeviation) {
  Rows rows(4, 1, 2);
  const std::vector<float> targets = {1, 3, 5, 7};
  rows.folds = {0, 1, 1, 1};
  rows.data.n_classes = 0;
  rows.data.targets = targets.data();
  const RowOrder order(rows.experiment, 0);
  EXPECT_EQ(order.target_mean(), 4);
  EXPECT_EQ(order.targets(), (std::vector<float>{-3, -1, 1, 3}));
  EXPECT_DOUBLE_EQ(order.target_deviation(MK_ALL_ROWS), std::sqrt(5.0));
  EXPECT_DOUBLE_EQ(order.target_deviation(0), std::sqrt(8.0 / 3));
  EXPECT_EQ(order.target_deviation(1), 1) << "one row has no deviation";
}

// The published grid has 5 folds of 10 problems, and 24 values of C for each gamma.
TEST(ProblemsAtOnce, FillACardWithAGrid) {
  mk_device_info card{};
  card.kind = MK_DEVICE_GPU;
  card.compute_units = 132;
  EXPECT_GE(std::min(problems_at_once(card), 50 * std::min<int64_t>(24, most_ahead(card))), 1000);
  mk_device_info processor = card;
  processor.kind = MK_DEVICE_CPU;
  EXPECT_LT(most_ahead(processor), 24) << "a busy device would waste work on values that turn out to be copies";
}

TEST(RoundsAtOnce, TakeAboutFiftyMilliseconds) {
  mk_device_info card{};
  card.compute_units = 132;
  EXPECT_EQ(rounds_at_once(card, 1200, 60'000, 1024), 1);
  EXPECT_EQ(rounds_at_once(card, 150, 60'000, 1024), 3);
  EXPECT_EQ(rounds_at_once(card, 10, 400, 128), 16);
  card.flags = MK_DEVICE_SHARED_MEMORY;
  EXPECT_EQ(rounds_at_once(card, 200, 10'000, 1024), 1);
}

TEST(MostPlaces, FitTheLargestBuffer) {
  mk_device_info card{};
  card.kind = MK_DEVICE_GPU;
  card.max_buffer_bytes = uint64_t{36} << 30;
  EXPECT_EQ(most_places(card, 1024), 2048);
  card.max_buffer_bytes = uint64_t{3} << 30;
  EXPECT_EQ(most_places(card, 1024), 768);
  card.kind = MK_DEVICE_CPU;
  EXPECT_EQ(most_places(card, 1024), 512);
}

}  // namespace
}  // namespace mokume::svc
