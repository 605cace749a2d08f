// Holds a trained support vector machine in host memory, predicts with it, and saves, loads and exports it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "libsvm_file.hpp"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "settings.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc {

// Computes decision[p](x) = sum over vectors v of coefficients[p][v] * K(vector v, x) - rho[p], with problems in the
// order of binary_problems(). Vectors are sorted by class. A regression has no classes; decision[0] is its prediction.
// The classes of a one-class machine are kRejected and kAccepted; its decision value is positive for rejected rows.
struct Fitted {
  Settings settings;
  int64_t features = 0;
  std::vector<std::string> class_names;
  bool keeps_sparse = false;   // whether `sparse` holds the vectors, as for a model of sparse rows
  std::vector<float> vectors;  // n_vectors x features, unless keeps_sparse
  SparseRows sparse;
  std::vector<int32_t> vector_class;   // n_vectors
  std::vector<float> coefficients;     // problems x n_vectors
  std::vector<float> rho;              // problems
  std::vector<int64_t> training_rows;  // n_vectors indices of rows of the training data; empty after load()
  std::vector<int64_t> steps;          // steps of the solver for each problem; empty after load()
  std::vector<bool> converged;         // whether the solver converged for each problem; empty after load()
  std::vector<double> mean, scale;     // scaling of the training data: empty, one value, or one per feature

  bool regression() const { return class_names.empty(); }
  bool one_class() const { return settings.kind == Kind::one_class; }
  int32_t classes() const { return static_cast<int32_t>(class_names.size()); }
  int64_t n_vectors() const { return static_cast<int64_t>(vector_class.size()); }
  int64_t problems() const { return static_cast<int64_t>(rho.size()); }

  // Writes `rows` classes to `labels`, which a regression ignores, and rows x problems() decision values to `scores`,
  // which may be null. Works in blocks of a fixed size. If fp32 cannot determine the class of a row (a decision value,
  // or the lead of the largest one, is within its rounding error), the host computes the decisions in double precision.
  void predict(const sdk::Host& host, const sdk::Device& device, const float* x, int64_t rows, int32_t* labels,
               float* scores) const;

  // Does the same for sparse rows. The products are those of sparse rows if the model keeps sparse vectors, and those
  // of dense rows otherwise.
  void predict_sparse(const sdk::Host& host, const sdk::Device& device, const mk_data& rows, int32_t* labels,
                      float* scores) const;

  void append_vector(int64_t v, SparseRows& to) const {
    if (keeps_sparse)
      to.append(sparse.view(features), v);
    else
      to.append_dense(vectors.data() + v * features, features);
  }

  // Adds vectors, of which it may not have been told yet the class or the coefficients.
  void take_vectors(const SparseRows& more) {
    for (int64_t v = 0; v < more.rows(); ++v) {
      if (keeps_sparse) {
        sparse.append(more.view(features), v);
      } else {
        vectors.resize(vectors.size() + static_cast<size_t>(features), 0.0F);
        more.expand(v, vectors.data() + vectors.size() - static_cast<size_t>(features));
      }
    }
  }

  // Writes a manifest, and files in LIBSVM's format, whose names end in .svm if LIBSVM lacks the kernel: model.libsvm
  // (regression, one-class, two classes, one-vs-one) or class-<k>.libsvm per class (one-vs-rest). The pairs of a
  // machine on landmarks share vectors, which are in pair-<k>.libsvm per pair of more than two classes.
  void save(const std::string& directory) const;
  static Fitted load(const std::string& directory);
  // Exports a regression as an SVMRegressor, two classes or one-vs-one as an SVMClassifier, and one-vs-rest as an
  // SVMRegressor for each class.
  void export_onnx(const std::string& path) const;

 private:
  std::vector<double> coefficient_sums() const;
  double largest_norm2() const;
  std::vector<float> rho_without_one() const;
  bool in_doubt(const float* decisions, const std::vector<double>& sums, double error) const;
  void decide_in_double(const float* x, float* decisions) const;
  void decide_in_double(const mk_data& rows, int64_t row, float* decisions) const;
  // Turns sums over the vectors into the answers of predict(). squared_norm(r) is that of a row, and
  // decide(r, decisions) computes its decisions in double precision.
  void conclude(std::vector<float> sums, int64_t rows, const std::function<double(int64_t)>& squared_norm,
                const std::function<void(int64_t, float*)>& decide, int32_t* labels, float* scores) const;
  void predict_with_sparse_vectors(const sdk::Host& host, const sdk::Device& device, const mk_data& rows,
                                   int32_t* labels, float* scores) const;
};

// Returns K(x, y) in double precision, for rows of d inputs.
double kernel_value(const Kernel& k, const float* x, const float* y, int64_t d);

// Returns the value of a kernel for the product of two rows, or for their squared distance if it needs norms.
double kernel_value(const ops::KernelFunction& k, double dot, double distance);

// Returns the non-zero coefficients of one problem as a two-class model with `labels`; the class +1 comes first.
LibsvmModel binary_model(const Fitted& f, int64_t problem, const std::vector<int64_t>& labels);
// Returns a regression or a one-class machine, whose decision values in LIBSVM are positive for accepted rows.
LibsvmModel unlabelled_model(const Fitted& f);
// Returns all problems of a one-vs-one model.
LibsvmModel pairs_model(const Fitted& f, const std::vector<int64_t>& labels);

}  // namespace mokume::svc
