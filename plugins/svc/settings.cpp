#include "settings.hpp"

#include <string_view>

namespace mokume::svc {
namespace {

enum Param { kC, kGamma, kKernel, kDegree, kCoef0, kMulticlass, kTol, kMaxIterations };

ops::KernelKind kernel_kind(std::string_view name) {
  if (name == "linear") return ops::KernelKind::linear;
  if (name == "polynomial") return ops::KernelKind::polynomial;
  if (name == "rbf") return ops::KernelKind::rbf;
  if (name == "sigmoid") return ops::KernelKind::sigmoid;
  throw Error(MK_INVALID_ARGUMENT, "unknown kernel '" + std::string(name) + "'");
}

}  // namespace

const std::vector<mk_param> kParams = {
    {"C", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e12, "1.0", "", "penalty of a margin violation", nullptr, 0, 0},
    {"gamma", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e6, "0.001", "",
     "scale of the rbf, polynomial and sigmoid kernels", nullptr, 0, 0},
    {"kernel", MK_PARAM_TEXT, 0, 0, 0, "\"rbf\"", "linear|polynomial|rbf|sigmoid",
     "kernel function, as LIBSVM defines them", nullptr, 0, 0},
    {"degree", MK_PARAM_INTEGER, 0, 0, ops::kMaxDegree, "3", "", "exponent of the polynomial kernel", nullptr, 0, 0},
    {"coef0", MK_PARAM_REAL, 0, -1e6, 1e6, "0.0", "", "constant of the polynomial and sigmoid kernels", nullptr, 0, 0},
    {"multiclass", MK_PARAM_TEXT, 0, 0, 0, "\"ovr\"", "ovr|ovo",
     "one-vs-rest (largest decision value) or one-vs-one (votes)", nullptr, 0, 0},
    {"tol", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1, "1e-3", "",
     "LIBSVM's stopping tolerance: the largest remaining violation", nullptr, 0, 0},
    {"max_iterations", MK_PARAM_INTEGER, 0, 1, 1e12, "10000000", "",
     "limit per binary problem; a fit that reaches it is marked capped", nullptr, 0, 0},
};

const std::vector<mk_metric> kMetrics = {{"errors", 1, 0}, {"error", 0, 1}};

Settings settings_of(const mk_value* v) {
  Settings s;
  s.c = v[kC].real;
  s.kernel.kind = kernel_kind(v[kKernel].text);
  s.kernel.gamma = v[kGamma].real;
  s.kernel.coef0 = v[kCoef0].real;
  s.kernel.degree = static_cast<int>(v[kDegree].integer);
  s.multiclass = std::string_view(v[kMulticlass].text) == "ovo" ? Multiclass::one_vs_one : Multiclass::one_vs_rest;
  s.tol = v[kTol].real;
  s.max_iterations = v[kMaxIterations].integer;
  return s;
}

bool same_kernel(const ops::KernelFunction& a, const ops::KernelFunction& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ops::KernelKind::linear:
      return true;
    case ops::KernelKind::rbf:
      return a.gamma == b.gamma;
    case ops::KernelKind::sigmoid:
      return a.gamma == b.gamma && a.coef0 == b.coef0;
    case ops::KernelKind::polynomial:
      return a.gamma == b.gamma && a.coef0 == b.coef0 && a.degree == b.degree;
  }
  return false;
}

bool same_chain(const Settings& a, const Settings& b) {
  return same_kernel(a.kernel, b.kernel) && a.multiclass == b.multiclass && a.tol == b.tol &&
         a.max_iterations == b.max_iterations;
}

}  // namespace mokume::svc
