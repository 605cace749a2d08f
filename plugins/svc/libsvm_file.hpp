// Reads and writes LIBSVM's model file, a text with a header of "key value" lines and one line per support vector.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/ops/kernel_map.hpp"

namespace mokume::svc {

// Holds a C-SVC. Vectors are grouped by class in the order of `labels`, and `rho` has one value per pair (0,1), (0,2),
// ... `coefficients` is (classes - 1) x n_vectors in LIBSVM's layout: for a vector of class i, row j - 1 belongs to the
// pair (i, j) if j > i, and row j to the pair (j, i) if j < i. A model without labels is an epsilon-SVR with one row of
// coefficients, one rho, and all vectors in vectors_per_class[0].
struct LibsvmModel {
  ops::KernelFunction kernel;
  std::vector<int64_t> labels;
  std::vector<int64_t> vectors_per_class;
  std::vector<double> rho;
  std::vector<double> coefficients;
  std::vector<float> vectors;  // n_vectors x features
  int64_t features = 0;

  bool regression() const { return labels.empty(); }
  int64_t n_vectors() const;
  int64_t coefficient_rows() const { return regression() ? 1 : static_cast<int64_t>(labels.size()) - 1; }
};

void write_libsvm(const std::string& path, const LibsvmModel& model);

// Throws Error(MK_BAD_DATA) with path and line unless the file is a dense or sparse C-SVC or epsilon-SVR model with at
// most `features` features.
LibsvmModel read_libsvm(const std::string& path, int64_t features);

}  // namespace mokume::svc
