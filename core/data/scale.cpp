#include "data/scale.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "base/files.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

// Computes the population standard deviation in two passes. Adds rows in order, so that the sums are reproducible.
void fit_features(const Table& table, const std::vector<uint32_t>& rows, std::vector<double>& mean,
                  std::vector<double>& scale) {
  const auto features = static_cast<size_t>(table.features);
  const auto n = static_cast<double>(rows.size());
  mean.assign(features, 0);
  scale.assign(features, 0);
  std::vector<char> constant(features, 1);
  const auto value = [&](uint32_t row, size_t j) { return table.value(row * features + j); };
  for (const uint32_t r : rows)
    for (size_t j = 0; j < features; ++j) {
      mean[j] += value(r, j);
      if (value(r, j) != value(rows.front(), j)) constant[j] = 0;
    }
  for (double& m : mean) m /= n;
  for (const uint32_t r : rows)
    for (size_t j = 0; j < features; ++j) {
      const double d = value(r, j) - mean[j];
      scale[j] += d * d;
    }
  for (size_t j = 0; j < features; ++j) {
    scale[j] = std::sqrt(scale[j] / n);
    if (constant[j] != 0) mean[j] = value(rows.front(), j);  // avoids the tiny residue of a rounded sum
    if (constant[j] != 0 || scale[j] == 0) scale[j] = 1;
  }
}

template <class T>
void hash_values(base::Sha256& hash, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty()) hash.update(values.data(), values.size() * sizeof(T));
  } else {
    for (const T value : values) {
      auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
      std::reverse(bytes.begin(), bytes.end());
      hash.update(bytes.data(), bytes.size());
    }
  }
}

void hash_number(base::Sha256& hash, uint64_t value) {
  unsigned char bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  hash.update(bytes, sizeof(bytes));
}

void hash_table(base::Sha256& hash, const Table& table) {
  hash_number(hash, static_cast<uint64_t>(table.rows));
  hash_number(hash, static_cast<uint64_t>(table.features));
  hash_values(hash, table.x);
  hash_number(hash, table.labels.size());
  hash_values(hash, table.labels);
  hash_number(hash, table.targets.size());
  hash_values(hash, table.targets);
  hash_values(hash, table.starts);
  hash_values(hash, table.column);
}

float finite(double scaled, const std::string& name, size_t row, size_t feature) {
  const auto rounded = static_cast<float>(scaled);
  if (!std::isfinite(rounded))
    throw Error(MK_BAD_DATA, "'" + name + "', row " + std::to_string(row + 1) + ", feature " +
                                 std::to_string(feature + 1) +
                                 ": leaves the range of float32 when scaled; change data.standardize");
  return rounded;
}

void scale_sparse(const std::vector<double>& mean, const std::vector<double>& scale, const std::string& name,
                  Table& table) {
  if (std::any_of(mean.begin(), mean.end(), [](double m) { return m != 0; }))
    throw Error(MK_INVALID_ARGUMENT,
                "data.storage is 'sparse', but the model subtracts means from its inputs, which fills the zeros of '" +
                    name + "'; remove it, or set it to dense");
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row)
    for (auto i = static_cast<size_t>(table.starts[row]); i < static_cast<size_t>(table.starts[row + 1]); ++i) {
      const auto feature = static_cast<size_t>(table.column[i]);
      table.x[i] = finite(table.value(i) / scale[scale.size() == 1 ? 0 : feature], name, row, feature);
    }
  table.exact = {};
}

}  // namespace

void check_scaling(const Dataset& data, int64_t features, const std::vector<double>& mean,
                   const std::vector<double>& scale) {
  const std::string have =
      "'" + data.name + "' has " + std::to_string(data.train.features) + " features, but the model ";
  if (features > 0 && data.train.features != features)
    throw Error(MK_BAD_DATA, have + "has " + std::to_string(features) + "; use data of the same kind");
  if (mean.size() != scale.size())
    throw Error(MK_INVALID_ARGUMENT, "the model's scaling has " + std::to_string(mean.size()) + " means and " +
                                         std::to_string(scale.size()) + " scales; its file is damaged");
  if (mean.size() > 1 && static_cast<int64_t>(mean.size()) != data.train.features)
    throw Error(MK_BAD_DATA, have + "scales " + std::to_string(mean.size()) + "; use data of the same kind");
  for (size_t i = 0; i < scale.size(); ++i)
    if (!std::isfinite(mean[i]) || !std::isfinite(scale[i]) || !(scale[i] > 0))
      throw Error(MK_INVALID_ARGUMENT, "the model's scaling of feature " + std::to_string(i + 1) +
                                           " is not a finite mean and a scale above 0; its file is damaged");
}

void apply_scaling(const std::vector<double>& mean, const std::vector<double>& scale, const std::string& name,
                   Table& table) {
  if (mean.empty()) return;
  if (table.sparse()) return scale_sparse(mean, scale, name, table);
  const auto features = static_cast<size_t>(table.features);
  const size_t step = mean.size() == 1 ? 0 : 1;
  for (size_t i = 0; i < table.x.size(); i += features)
    for (size_t j = 0; j < features; ++j)
      table.x[i + j] = finite((table.value(i + j) - mean[j * step]) / scale[j * step], name, i / features, j);
  table.exact = {};
}

void fit_scaling(const Standardize& how, const Table& table, const std::vector<uint32_t>& rows,
                 std::vector<double>& mean, std::vector<double>& scale) {
  if (how.kind == Standardize::Kind::fixed) {
    mean = {how.mean};
    scale = {how.scale};
  } else if (how.kind == Standardize::Kind::features) {
    fit_features(table, rows, mean, scale);
  }
}

void standardize(const Standardize& how, Dataset& data) {
  if (how.kind == Standardize::Kind::none) return;
  std::vector<uint32_t> all(static_cast<size_t>(data.train.rows));
  std::iota(all.begin(), all.end(), uint32_t{0});
  fit_scaling(how, data.train, all, data.mean, data.scale);
  apply_scaling(data.mean, data.scale, data.name, data.train);
  apply_scaling(data.mean, data.scale, data.name, data.test);
}

std::string content_hash(const Dataset& data) {
  base::Sha256 hash;
  const std::string_view tag = "mokume data 1\n";
  hash.update(tag.data(), tag.size());
  hash_table(hash, data.train);
  hash_table(hash, data.test);
  hash_number(hash, data.class_names.size());
  for (const std::string& name : data.class_names) {
    hash_number(hash, name.size());
    hash.update(name.data(), name.size());
  }
  if (!data.train.given_folds.empty()) hash_values(hash, data.train.given_folds);  // fits depend on the folds
  if (!data.train.weights.empty()) hash_values(hash, data.train.weights);
  hash_values(hash, data.train.exact);
  hash_values(hash, data.test.exact);
  return hash.hex();
}

}  // namespace mokume::data
