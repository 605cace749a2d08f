#include "data/folds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "data/dataset.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::data {
namespace {

// round(k * n / folds) in integer arithmetic; a half rounds to even.
int64_t bound(int64_t n, int64_t folds, int64_t k) {
  const int64_t whole = k * n / folds;
  const int64_t twice_rest = 2 * (k * n % folds);
  const bool up = twice_rest > folds || (twice_rest == folds && whole % 2 != 0);
  return whole + (up ? 1 : 0);
}

// Fisher, Yates: Statistical Tables, 1938, in Durstenfeld's form.
std::vector<int64_t> row_order(int64_t rows, bool shuffle, uint64_t seed, uint32_t bootstrap) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!shuffle) return order;
  const sdk::Random random(seed, sdk::Purpose::folds, bootstrap);
  for (size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random.below(static_cast<uint32_t>(i), uint64_t{i} + 1)]);
  return order;
}

void deal_contiguous(const std::vector<int64_t>& order, int64_t folds, std::vector<int32_t>& fold_of) {
  const auto n = static_cast<int64_t>(order.size());
  for (int64_t k = 0; k < folds; ++k)
    for (int64_t i = bound(n, folds, k); i < bound(n, folds, k + 1); ++i)
      fold_of[static_cast<size_t>(order[static_cast<size_t>(i)])] = static_cast<int32_t>(k);
}

// Cuts each class into runs of floor or ceil(size / folds) rows. The longer runs go to the smallest folds so far, so
// that fold sizes also differ by at most one row.
void deal_stratified(const Table& train, const std::vector<int64_t>& order, int64_t folds,
                     std::vector<int32_t>& fold_of) {
  const int32_t classes = *std::max_element(train.labels.begin(), train.labels.end()) + 1;
  std::vector<std::vector<int64_t>> rows_of(static_cast<size_t>(classes));
  for (const int64_t row : order) rows_of[static_cast<size_t>(train.labels[static_cast<size_t>(row)])].push_back(row);
  std::vector<int64_t> sizes(static_cast<size_t>(folds), 0);
  for (const std::vector<int64_t>& rows : rows_of) {
    const auto n = static_cast<int64_t>(rows.size());
    std::vector<int64_t> share(sizes.size(), n / folds);
    std::vector<size_t> smallest(sizes.size());
    std::iota(smallest.begin(), smallest.end(), size_t{0});
    std::stable_sort(smallest.begin(), smallest.end(), [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
    for (int64_t i = 0; i < n % folds; ++i) ++share[smallest[static_cast<size_t>(i)]];
    auto row = rows.begin();
    for (size_t k = 0; k < share.size(); ++k) {
      sizes[k] += share[k];
      for (int64_t i = 0; i < share[k]; ++i) fold_of[static_cast<size_t>(*row++)] = static_cast<int32_t>(k);
    }
  }
}

void check_rows(const Table& train) {
  if (train.rows > int64_t{UINT32_MAX})
    throw Error(MK_INVALID_ARGUMENT, "validation is limited to 4,294,967,295 training rows; set data.limit");
}

// Distributes `total` seats over groups of these sizes, by the largest remainders of share * size; ties go to the
// first.
std::vector<int64_t> seats_of(const std::vector<int64_t>& sizes, double share, int64_t total) {
  std::vector<int64_t> seats;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto exact = [&](size_t g) { return share * static_cast<double>(sizes[g]); };
  for (size_t g = 0; g < sizes.size(); ++g) {
    seats.push_back(static_cast<int64_t>(std::floor(exact(g))));
    total -= seats.back();
  }
  const auto remainder = [&](size_t g) { return exact(g) - static_cast<double>(seats[g]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainder(a) > remainder(b); });
  for (size_t k = 0; total > 0 && k < order.size(); ++k) {
    if (seats[order[k]] == sizes[order[k]]) continue;
    ++seats[order[k]];
    --total;
  }
  return seats;
}

}  // namespace

std::vector<int32_t> assign_share(const Table& train, double share, bool stratified, uint64_t seed,
                                  uint32_t bootstrap) {
  check_rows(train);
  stratified = stratified && !train.labels.empty();
  const auto total = static_cast<int64_t>(std::floor(share * static_cast<double>(train.rows) + 0.5));
  if (total < 1 || total >= train.rows)
    throw Error(MK_INVALID_ARGUMENT, "validation.share validates " + std::to_string(total) + " of " +
                                         std::to_string(train.rows) +
                                         " training rows; choose it so that both parts have rows");
  std::vector<int64_t> sizes = {train.rows};
  const auto group_of = [&](int64_t row) {
    return stratified ? static_cast<size_t>(train.labels[static_cast<size_t>(row)]) : size_t{0};
  };
  if (stratified) {
    sizes.assign(static_cast<size_t>(*std::max_element(train.labels.begin(), train.labels.end())) + 1, 0);
    for (const int32_t label : train.labels) ++sizes[static_cast<size_t>(label)];
  }
  std::vector<int64_t> left = seats_of(sizes, share, total);
  std::vector<int32_t> fold_of(static_cast<size_t>(train.rows), -1);
  for (const int64_t row : row_order(train.rows, true, seed, bootstrap)) {
    if (left[group_of(row)] == 0) continue;
    --left[group_of(row)];
    fold_of[static_cast<size_t>(row)] = 0;
  }
  return fold_of;
}

std::vector<int32_t> assign_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified, uint64_t seed,
                                  uint32_t bootstrap) {
  if (folds < 2 || int64_t{folds} > train.rows)
    throw Error(MK_INVALID_ARGUMENT, "validation.folds is " + std::to_string(folds) + " for " +
                                         std::to_string(train.rows) + " training rows; use 2 to the number of rows");
  check_rows(train);
  stratified = stratified && !train.labels.empty();
  const std::vector<int64_t> order = row_order(train.rows, shuffle, seed, bootstrap);
  std::vector<int32_t> fold_of(order.size());
  if (stratified) {
    deal_stratified(train, order, folds, fold_of);
  } else {
    deal_contiguous(order, folds, fold_of);
  }
  return fold_of;
}

}  // namespace mokume::data
