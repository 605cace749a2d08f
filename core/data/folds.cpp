#include "data/folds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "data/dataset.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::data {
namespace {

// Returns round(k * n / folds) by integer arithmetic; a half rounds to even.
int64_t bound(int64_t n, int64_t folds, int64_t k) {
  const int64_t whole = k * n / folds;
  const int64_t twice_rest = 2 * (k * n % folds);
  const bool up = twice_rest > folds || (twice_rest == folds && whole % 2 != 0);
  return whole + (up ? 1 : 0);
}

// Shuffles as in Fisher and Yates, "Statistical Tables", 1938, in Durstenfeld's form.
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

// Cuts each class into runs of floor or ceil(size / folds) rows. The smallest folds so far get the longer runs, so that
// fold sizes also differ by at most one row.
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

// Distributes `total` seats over groups of these sizes by the largest remainders of share * size; the first wins ties.
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

int64_t rows_of_share(const Table& train, double share) {
  check_rows(train);
  const auto total = static_cast<int64_t>(std::floor(share * static_cast<double>(train.rows) + 0.5));
  if (total < 1 || total >= train.rows)
    throw Error(MK_INVALID_ARGUMENT, "validation.share validates " + std::to_string(total) + " of " +
                                         std::to_string(train.rows) +
                                         " training rows; choose it so that both parts have rows");
  return total;
}

std::vector<std::vector<uint32_t>> rows_of_groups(const Table& train) {
  std::vector<std::vector<uint32_t>> members(size_t{*std::max_element(train.groups.begin(), train.groups.end())} + 1);
  for (size_t row = 0; row < train.groups.size(); ++row)
    members[train.groups[row]].push_back(static_cast<uint32_t>(row));
  return members;
}

// Returns the number of groups that have rows. Some have none after an outer fold is held out.
size_t present(const std::vector<std::vector<uint32_t>>& members) {
  return members.size() - static_cast<size_t>(std::count_if(members.begin(), members.end(),
                                                            [](const auto& rows) { return rows.empty(); }));
}

// Counts the rows of each class in each fold while groups are assigned.
class FoldsOfGroups {
 public:
  FoldsOfGroups(const Table& train, uint32_t folds, bool stratified) : train_(train), rows_(folds, 0) {
    if (!stratified) return;
    total_.assign(static_cast<size_t>(*std::max_element(train.labels.begin(), train.labels.end())) + 1, 0);
    for (const int32_t label : train.labels) ++total_[static_cast<size_t>(label)];
    count_.assign(folds, std::vector<int64_t>(total_.size(), 0));
  }

  // Assigns a group and returns its fold.
  int32_t take(const std::vector<uint32_t>& group) {
    std::vector<int64_t> of_class(total_.size(), 0);
    if (!total_.empty())
      for (const uint32_t row : group) ++of_class[static_cast<size_t>(train_.labels[row])];
    size_t best = 0;
    for (size_t f = 1; f < rows_.size(); ++f)
      if (std::pair(growth(f, of_class), rows_[f]) < std::pair(growth(best, of_class), rows_[best])) best = f;
    rows_[best] += static_cast<int64_t>(group.size());
    for (size_t c = 0; c < of_class.size(); ++c) count_[best][c] += of_class[c];
    return static_cast<int32_t>(best);
  }

 private:
  // Returns the growth of the spread of the classes over the folds, up to a constant that all folds share.
  double growth(size_t fold, const std::vector<int64_t>& of_class) const {
    double sum = 0;
    for (size_t c = 0; c < of_class.size(); ++c)
      if (of_class[c] > 0)
        sum += static_cast<double>(count_[fold][c]) * static_cast<double>(of_class[c]) /
               (static_cast<double>(total_[c]) * static_cast<double>(total_[c]));
    return sum;
  }

  const Table& train_;
  std::vector<int64_t> rows_;                // indexed by fold
  std::vector<int64_t> total_;               // indexed by class; empty unless stratified
  std::vector<std::vector<int64_t>> count_;  // indexed by fold, then by class
};

}  // namespace

std::vector<int32_t> assign_last_share(const Table& train, double share) {
  const int64_t validated = rows_of_share(train, share);
  std::vector<int32_t> fold_of(static_cast<size_t>(train.rows), -1);
  std::fill(fold_of.end() - validated, fold_of.end(), 0);
  return fold_of;
}

std::vector<int64_t> time_blocks(int64_t rows, uint32_t folds) {
  if (folds < 2 || int64_t{folds} >= rows)
    throw Error(MK_INVALID_ARGUMENT, "validation.folds is " + std::to_string(folds) + " for " + std::to_string(rows) +
                                         " training rows in the order of time; use 2 or more, and fewer than rows");
  std::vector<int64_t> ends;
  for (int64_t k = 1; k <= int64_t{folds} + 1; ++k) ends.push_back(bound(rows, int64_t{folds} + 1, k));
  return ends;
}

std::vector<int32_t> assign_group_share(const Table& train, double share, uint64_t seed, uint32_t bootstrap) {
  const int64_t wanted = rows_of_share(train, share);
  const std::vector<std::vector<uint32_t>> members = rows_of_groups(train);
  std::vector<int32_t> fold_of(static_cast<size_t>(train.rows), -1);
  int64_t rows = 0;
  size_t groups = 0;
  for (const int64_t g : row_order(static_cast<int64_t>(members.size()), true, seed, bootstrap)) {
    const std::vector<uint32_t>& group = members[static_cast<size_t>(g)];
    const int64_t with = rows + static_cast<int64_t>(group.size());
    if (std::abs(with - wanted) >= std::abs(rows - wanted)) continue;
    for (const uint32_t row : group) fold_of[row] = 0;
    rows = with;
    ++groups;
  }
  if (groups == 0 || groups == present(members))
    throw Error(MK_INVALID_ARGUMENT, "validation.share validates " + std::to_string(groups) + " of " +
                                         std::to_string(present(members)) +
                                         " groups; choose it so that both parts have groups");
  return fold_of;
}

std::vector<int32_t> assign_group_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified,
                                        uint64_t seed, uint32_t bootstrap) {
  check_rows(train);
  const std::vector<std::vector<uint32_t>> members = rows_of_groups(train);
  if (folds < 2 || folds > present(members))
    throw Error(MK_INVALID_ARGUMENT, "validation.folds is " + std::to_string(folds) + " for " +
                                         std::to_string(present(members)) +
                                         " groups; use 2 to the number of groups in validation.group");
  std::vector<int64_t> order = row_order(static_cast<int64_t>(members.size()), shuffle, seed, bootstrap);
  const auto rows_in = [&](int64_t g) -> const std::vector<uint32_t>& { return members[static_cast<size_t>(g)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return rows_in(a).size() > rows_in(b).size(); });
  FoldsOfGroups dealt(train, folds, stratified && !train.labels.empty());
  std::vector<int32_t> fold_of(static_cast<size_t>(train.rows));
  for (const int64_t g : order) {
    const int32_t fold = dealt.take(rows_in(g));
    for (const uint32_t row : rows_in(g)) fold_of[row] = fold;
  }
  return fold_of;
}

std::vector<int32_t> assign_share(const Table& train, double share, bool stratified, uint64_t seed,
                                  uint32_t bootstrap) {
  stratified = stratified && !train.labels.empty();
  const int64_t total = rows_of_share(train, share);
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
