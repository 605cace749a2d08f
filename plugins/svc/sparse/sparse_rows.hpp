// Holds sparse rows in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "abi/model.h"

namespace mokume::svc {

// The form is that of mk_data: row r has the values x[i] in the columns column[i] for i in [starts[r], starts[r + 1]).
struct SparseRows {
  std::vector<int64_t> starts = {0};
  std::vector<int32_t> column;
  std::vector<float> x;

  bool operator==(const SparseRows&) const = default;

  int64_t rows() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t values() const { return static_cast<int64_t>(x.size()); }

  void add(int32_t in_column, float value) {
    column.push_back(in_column);
    x.push_back(value);
  }
  void end_row() { starts.push_back(values()); }

  void append(const mk_data& data, int64_t row) {
    column.insert(column.end(), data.column + data.starts[row], data.column + data.starts[row + 1]);
    x.insert(x.end(), data.x + data.starts[row], data.x + data.starts[row + 1]);
    end_row();
  }
  void append_dense(const float* row, int64_t features) {
    for (int64_t f = 0; f < features; ++f)
      if (row[f] != 0) add(static_cast<int32_t>(f), row[f]);
    end_row();
  }

  // Returns whether a row equals the only row of `other`.
  bool equals(int64_t row, const SparseRows& other) const {
    const auto begin = starts[static_cast<size_t>(row)], end = starts[static_cast<size_t>(row) + 1];
    return end - begin == other.values() && std::equal(other.x.begin(), other.x.end(), x.begin() + begin) &&
           std::equal(other.column.begin(), other.column.end(), column.begin() + begin);
  }

  // Returns the rows [first, first + count).
  SparseRows part(int64_t first, int64_t count) const {
    SparseRows some;
    const mk_data all = view(0);
    for (int64_t r = first; r < first + count; ++r) some.append(all, r);
    return some;
  }

  // Refers to the rows in the form of the boundary, without labels.
  mk_data view(int64_t features) const {
    mk_data data{};
    data.rows = rows();
    data.features = features;
    data.x = x.data();
    data.starts = starts.data();
    data.column = column.data();
    return data;
  }

  // Writes the values of a row to `to`, in which the caller has set all others to 0.
  void expand(int64_t row, float* to) const {
    for (auto i = static_cast<size_t>(starts[static_cast<size_t>(row)]);
         i < static_cast<size_t>(starts[static_cast<size_t>(row) + 1]); ++i)
      to[column[i]] = x[i];
  }
};

}  // namespace mokume::svc
