// Reads and writes LIBSVM's model file, a text with a header of "key value" lines and one line per support vector.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc {

// Holds a C-SVC or a nu-SVC. Vectors are grouped by class in the order of `labels`, and `rho` has one value per pair
// (0,1), (0,2),
// ... `coefficients` is (classes - 1) x n_vectors in LIBSVM's layout: for a vector of class i, row j - 1 belongs to the
// pair (i, j) if j > i, and row j to the pair (j, i) if j < i. The other kinds have no labels, one row of
// coefficients, one rho, and all vectors in vectors_per_class[0].
struct LibsvmModel {
  Kind kind = Kind::c_svc;
  Kernel kernel;
  std::vector<int64_t> labels;
  std::vector<int64_t> vectors_per_class;
  std::vector<double> rho;
  std::vector<double> coefficients;
  SparseRows vectors;
  int64_t features = 0;

  bool has_labels() const { return kind == Kind::c_svc || kind == Kind::nu_svc; }
  int64_t n_vectors() const;
  int64_t coefficient_rows() const { return has_labels() ? static_cast<int64_t>(labels.size()) - 1 : 1; }
};

// Returns LIBSVM's name of a kind, and the name of a kernel.
const char* kind_name(Kind kind);
const char* kernel_name(const Kernel& kernel);

// Returns a vector as LIBSVM writes it: "1:0.5 3:2 ".
std::string pairs_of(const SparseRows& rows, int64_t row);

void write_libsvm(const std::string& path, const LibsvmModel& model);
// Asks for the text of each vector, in order, instead of the model's vectors.
void write_libsvm(const std::string& path, const LibsvmModel& model,
                  const std::function<const std::string&(int64_t)>& pairs_of_vector);

// Throws Error(MK_BAD_DATA) with path and line unless the file is a dense or sparse model of any kind with at most
// `features` features and a kernel that is not precomputed. Unless the vectors remain `sparse`, the size of the file
// must justify the memory that dense vectors take.
LibsvmModel read_libsvm(const std::string& path, int64_t features, bool sparse = false);
// Reads the model without its vectors and coefficients.
LibsvmModel read_libsvm_header(const std::string& path, int64_t features);

}  // namespace mokume::svc
