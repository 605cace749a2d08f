#include "data/npy/npy_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "data/input.hpp"
#include "data/npy/npy_file.hpp"
#include "data/precision.hpp"

namespace mokume::data {
namespace {

constexpr int64_t kMostUsual = 3, kMostChannels = 65536;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t edge : shape) text += (text.empty() ? "" : ", ") + std::to_string(edge);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

// Returns the shape of a picture, with 0 channels for a table.
Shape picture_shape(const NpyFile& file, Layout layout) {
  const std::vector<int64_t>& s = file.shape();
  const std::string has = "has the shape " + shape_text(s);
  if (s.size() < 2 || s.size() > 4)
    bad_data(file.path(), "", has + "; rows are (N, F), (N, H, W), (N, H, W, C) or (N, C, H, W)");
  if (s.size() < 4 && layout != Layout::none)
    bad_data(file.path(), "", has + " without a dimension of channels; remove data.layout");
  if (s.size() == 4 && layout == Layout::none)
    bad_data(file.path(), "", has + "; say where the channels are with data.layout = \"nhwc\" or \"nchw\"");
  if (s.size() == 2) return {};
  const bool outer = layout == Layout::nchw;
  const int64_t channels = s.size() == 3 ? 1 : s[outer ? 1 : 3];
  // Pictures may have any number of channels, unless the other layout gives a usual number.
  const int64_t otherwise = s.size() == 3 ? channels : s[outer ? 3 : 1];
  if (channels > kMostChannels || (channels > kMostUsual && otherwise <= kMostUsual))
    bad_data(file.path(), "",
             has + ", so its pictures have " + std::to_string(channels) + " channels, but with the other layout " +
                 std::to_string(otherwise) + "; change data.layout, or reshape it to (N, F)");
  return {static_cast<int32_t>(s[outer ? 2 : 1]), static_cast<int32_t>(s[outer ? 3 : 2]),
          static_cast<int32_t>(channels)};
}

// Reads the rows, and checks that the kept values are finite.
void read_values(NpyFile& file, bool exact, RawTable& part) {
  const size_t each = sizeof(float) + (exact ? sizeof(double) : 0);
  const size_t kept = checked_count(file.path(), part.table.rows, part.table.features, each);
  const auto features = static_cast<size_t>(part.table.features);
  std::vector<float>& x = part.table.x;
  x.reserve(kept);
  if (exact) part.table.exact.reserve(kept);
  file.read([&](const double* numbers, size_t count) {
    for (size_t i = 0; i < count && x.size() < kept; ++i) {
      x.push_back(static_cast<float>(numbers[i]));
      if (exact) part.table.exact.push_back(numbers[i]);
      if (!std::isfinite(x.back()))
        bad_data(file.path(),
                 "row " + std::to_string((x.size() - 1) / features + 1) + ", element " +
                     std::to_string((x.size() - 1) % features + 1),
                 "is not a finite number in float32; fill or remove such rows");
    }
  });
  drop_exact_if_equal(part.table);
}

// Transposes every row from (C, H, W) to (H, W, C).
template <class T>
void move_channels_inside(const Shape& shape, std::vector<T>& x) {
  const auto channels = static_cast<size_t>(shape.channels), values = static_cast<size_t>(shape.values());
  const size_t pixels = values / channels;
  std::vector<T> row(values);
  for (size_t at = 0; at < x.size(); at += values) {
    for (size_t c = 0; c < channels; ++c)
      for (size_t p = 0; p < pixels; ++p) row[p * channels + c] = x[at + c * pixels + p];
    std::copy(row.begin(), row.end(), x.begin() + static_cast<ptrdiff_t>(at));
  }
}

Labels read_labels(const std::string& path, const NpyFile& rows) {
  NpyFile file(path);
  const std::vector<int64_t>& s = file.shape();
  if (s.size() > 2 || (s.size() == 2 && s[1] != 1))
    bad_data(path, "", "has the shape " + shape_text(s) + " instead of one number for each row");
  if (s[0] != rows.shape()[0])
    bad_data(path, "",
             "holds " + std::to_string(s[0]) + " labels for the " + std::to_string(rows.shape()[0]) + " rows of '" +
                 rows.path() + "'; use the two files of one set");
  Labels labels;
  labels.values.reserve(file.count());
  file.read([&](const double* numbers, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(numbers[i]))
        bad_data(path, "row " + std::to_string(labels.values.size() + i + 1), "has no finite number; remove the row");
    }
    labels.values.insert(labels.values.end(), numbers, numbers + count);
  });
  return labels;
}

}  // namespace

std::vector<float> read_npy_weights(const std::string& path, int64_t rows, int64_t limit) {
  NpyFile file(path);
  if (file.shape().size() != 1 || file.shape()[0] != rows)
    bad_data(path, "",
             "has the shape " + shape_text(file.shape()) + " instead of one weight for each of the " +
                 std::to_string(rows) + " training rows");
  std::vector<float> weights;
  file.read([&](const double* numbers, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      weights.push_back(static_cast<float>(numbers[i]));
      if (!std::isfinite(weights.back()) || numbers[i] < 0)
        bad_data(path, "row " + std::to_string(weights.size()), "holds no number from 0 up, as a weight is");
    }
  });
  if (limit > 0 && static_cast<size_t>(limit) < weights.size()) weights.resize(static_cast<size_t>(limit));
  return weights;
}

RawTable read_npy_rows(const NpyRows& files, int64_t limit) {
  NpyFile file(files.rows);
  RawTable part;
  part.path = files.rows;
  part.shape = picture_shape(file, files.layout);
  const int64_t rows = file.shape()[0];
  if (file.count() == 0) bad_data(files.rows, "", "has no rows or no features; a data set needs one of each");
  const uint64_t features = file.count() / static_cast<uint64_t>(rows);
  if (features > uint64_t{kMaxFeatures})
    bad_data(files.rows, "", "has more than " + std::to_string(kMaxFeatures) + " features");
  part.table.features = static_cast<int64_t>(features);
  part.table.rows = limit > 0 ? std::min(limit, rows) : rows;
  read_values(file, files.exact && file.may_round(), part);
  if (files.layout == Layout::nchw && part.shape.channels > 1) {
    move_channels_inside(part.shape, part.table.x);
    move_channels_inside(part.shape, part.table.exact);
  }
  if (!files.labels.empty()) part.labels = read_labels(files.labels, file);
  return part;
}

}  // namespace mokume::data
