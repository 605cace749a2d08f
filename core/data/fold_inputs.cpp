#include "data/fold_inputs.hpp"

#include <algorithm>

#include "data/scale.hpp"

namespace mokume::data {
namespace {

// Holds the gaps of one column. A categorical column has one feature per level, and a numeric column has one feature.
struct ColumnGaps {
  size_t feature = 0;  // index of the first feature
  size_t width = 1;
  bool levels = false;
  std::vector<uint32_t> rows;  // ascending row numbers
};

std::vector<ColumnGaps> gaps_by_column(const Dataset& data) {
  std::vector<ColumnGaps> columns;
  size_t feature = 0;
  for (const Column& column : data.columns) {
    columns.push_back({feature, std::max<size_t>(1, column.levels.size()), !column.levels.empty(), {}});
    feature += columns.back().width;
  }
  for (const Gap& gap : data.gaps) columns[gap.column].rows.push_back(gap.row);
  std::erase_if(columns, [](const ColumnGaps& column) { return column.rows.empty(); });
  return columns;
}

// Returns the mean of each feature over the rows without a gap. The mean of a level is the share of rows with this
// level. Returns {} if no row has a value.
std::vector<double> means(const Table& table, const ColumnGaps& column, const std::vector<uint32_t>& rows) {
  std::vector<double> sums(column.width, 0);
  size_t count = 0;
  for (const uint32_t row : rows) {
    if (std::binary_search(column.rows.begin(), column.rows.end(), row)) continue;
    ++count;
    const size_t first = row * static_cast<size_t>(table.features) + column.feature;
    for (size_t j = 0; j < column.width; ++j) sums[j] += table.value(first + j);
  }
  if (count == 0) return {};
  for (double& sum : sums) sum /= static_cast<double>(count);
  return sums;
}

void fill(const ColumnGaps& column, const std::vector<uint32_t>& rows, Table& table) {
  std::vector<double> filler = means(table, column, rows);
  if (filler.empty()) return;
  if (column.levels) {
    const auto most = std::max_element(filler.begin(), filler.end()) - filler.begin();
    std::fill(filler.begin(), filler.end(), 0.0);
    filler[static_cast<size_t>(most)] = 1;
  }
  for (const uint32_t row : column.rows) {
    const size_t first = row * static_cast<size_t>(table.features) + column.feature;
    for (size_t j = 0; j < column.width; ++j) table.set(first + j, filler[j]);
  }
}

}  // namespace

Table inputs_of(const Table& table) {
  Table inputs;
  inputs.rows = table.rows;
  inputs.features = table.features;
  inputs.x = table.x;
  inputs.exact = table.exact;
  return inputs;
}

FoldInputs fold_inputs(const Dataset& data, const Standardize& how, const std::vector<uint32_t>& rows) {
  FoldInputs made;
  made.table = data.unscaled;
  for (const ColumnGaps& column : gaps_by_column(data)) fill(column, rows, made.table);
  fit_scaling(how, made.table, rows, made.mean, made.scale);
  apply_scaling(made.mean, made.scale, data.name, made.table);
  return made;
}

}  // namespace mokume::data
