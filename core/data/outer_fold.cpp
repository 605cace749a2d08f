#include "data/outer_fold.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "data/fold_inputs.hpp"
#include "data/folds.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

// Seeds the draw of outer folds in place of a bootstrap's number. No bootstrap or repeat has this number.
constexpr uint32_t kOuterDraw = std::numeric_limits<uint32_t>::max();

template <class T>
void copy_row(const std::vector<T>& from, uint32_t row, std::vector<T>& to) {
  if (!from.empty()) to.push_back(from[row]);
}

template <class T>
void copy_values(const std::vector<T>& from, uint32_t row, int64_t features, std::vector<T>& to) {
  if (from.empty()) return;
  const auto first = from.begin() + static_cast<ptrdiff_t>(row) * features;
  to.insert(to.end(), first, first + features);
}

void copy_sparse(const Table& all, uint32_t row, Table& some) {
  const auto first = static_cast<ptrdiff_t>(all.starts[row]), end = static_cast<ptrdiff_t>(all.starts[row + 1]);
  some.x.insert(some.x.end(), all.x.begin() + first, all.x.begin() + end);
  some.column.insert(some.column.end(), all.column.begin() + first, all.column.begin() + end);
  if (!all.exact.empty()) some.exact.insert(some.exact.end(), all.exact.begin() + first, all.exact.begin() + end);
  some.starts.push_back(static_cast<int64_t>(some.column.size()));
}

// Fills missing cells with the means over `rows`.
void fill_by(const std::vector<uint32_t>& rows, const std::vector<Gap>& gaps, Dataset& data) {
  if (gaps.empty()) return;
  data.unscaled = inputs_of(data.train);
  data.gaps = gaps;
  Table filled = fold_inputs(data, Standardize{}, rows).table;
  data.train.x = std::move(filled.x);
  data.train.exact = std::move(filled.exact);
  data.unscaled = {};
  data.gaps.clear();
}

}  // namespace

std::vector<int32_t> assign_outer_folds(const OuterFold& outer, const Table& train) {
  if (int64_t{outer.folds} > train.rows)
    throw Error(MK_INVALID_ARGUMENT, "validation.outer is " + std::to_string(outer.folds) + " for " +
                                         std::to_string(train.rows) + " training rows; use 2 to the number of rows");
  if (!train.groups.empty())
    return assign_group_folds(train, outer.folds, outer.shuffle, outer.stratified, outer.seed, kOuterDraw);
  return assign_folds(train, outer.folds, outer.shuffle, outer.stratified, outer.seed, kOuterDraw);
}

Table rows_of(const Table& all, const std::vector<uint32_t>& rows) {
  Table some;
  some.rows = static_cast<int64_t>(rows.size());
  some.features = all.features;
  if (all.sparse()) some.starts = {0};
  for (const uint32_t row : rows) {
    if (all.sparse()) {
      copy_sparse(all, row, some);
    } else {
      copy_values(all.x, row, all.features, some.x);
      copy_values(all.exact, row, all.features, some.exact);
    }
    copy_row(all.labels, row, some.labels);
    copy_row(all.targets, row, some.targets);
    copy_row(all.weights, row, some.weights);
    copy_row(all.groups, row, some.groups);
    copy_row(all.given_folds, row, some.given_folds);
  }
  return some;
}

void hold_out(const OuterFold& outer, Dataset& data, std::vector<Gap>& gaps) {
  const std::vector<int32_t> fold_of = assign_outer_folds(outer, data.train);
  std::vector<uint32_t> kept, held;
  for (uint32_t row = 0; row < fold_of.size(); ++row)
    (fold_of[row] == static_cast<int32_t>(outer.fold) - 1 ? held : kept).push_back(row);
  fill_by(kept, gaps, data);
  std::vector<Gap> left;
  for (const Gap& gap : gaps) {
    const auto place = std::lower_bound(kept.begin(), kept.end(), gap.row);
    if (place != kept.end() && *place == gap.row)
      left.push_back({static_cast<uint32_t>(place - kept.begin()), gap.column});
  }
  gaps = std::move(left);
  data.test = rows_of(data.train, held);
  data.test.weights.clear();
  data.test.groups.clear();
  data.test.given_folds.clear();
  data.train = rows_of(data.train, kept);
  std::vector<std::string> ids;
  for (const uint32_t row : kept)
    for (size_t c = 0; c < data.ids.names.size(); ++c) ids.push_back(data.ids.cells[row * data.ids.names.size() + c]);
  data.ids.cells = std::move(ids);
}

}  // namespace mokume::data
