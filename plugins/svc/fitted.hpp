// A trained multi-class C-SVC in host memory: support vectors, coefficients, and what a reader of its files needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "sdk/device.hpp"
#include "settings.hpp"

namespace mokume::svc {

// decision[p](x) = sum over vectors v of coefficients[p][v] * K(vector v, x) - rho[p], for the problems in the order of
// binary_problems(). Vectors are sorted by class.
struct Fitted {
  Settings settings;
  int64_t features = 0;
  std::vector<std::string> class_names;
  std::vector<float> vectors;         // n_vectors x features
  std::vector<int32_t> vector_class;  // n_vectors
  std::vector<float> coefficients;    // problems x n_vectors
  std::vector<float> rho;             // problems
  std::vector<double> mean, scale;    // of the training data: one value, one per feature, or none

  int32_t classes() const { return static_cast<int32_t>(class_names.size()); }
  int64_t n_vectors() const { return static_cast<int64_t>(vector_class.size()); }
  int64_t problems() const { return static_cast<int64_t>(rho.size()); }

  // labels: rows; scores (may be null): rows x problems() decision values. Works in blocks of fixed size. Where fp32
  // cannot tell the class (a decision value, or the lead of the largest, is within its rounding error), the row is
  // decided in double precision on the host.
  void predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const;

  // model.libsvm for two classes or one-vs-one, class-<k>.libsvm per class for one-vs-rest, and manifest.json.
  void save(const std::string& directory) const;
  static Fitted load(const std::string& directory);

 private:
  std::vector<float> rounding_bounds() const;
  bool in_doubt(const float* decisions, const std::vector<float>& bounds) const;
  void decide_in_double(const float* x, float* decisions) const;
};

}  // namespace mokume::svc
