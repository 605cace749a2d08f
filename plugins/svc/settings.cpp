#include "settings.hpp"

#include <algorithm>
#include <string_view>

#include "sdk/class_weights.hpp"
#include "sdk/error.hpp"

namespace mokume::svc {
namespace {

enum Param {
  kC,
  kGamma,
  kKernel,
  kDegree,
  kCoef0,
  kMulticlass,
  kTol,
  kMaxIterations,
  kGammaUnit,
  kClassWeight,
  kSolver,
  kEpsilon,
  kStandardise,
  kTighten,
  kKind,
  kNu,
  kApproximation,
  kLandmarks,
  kLandmarkSeed,
  kKernelStorage
};

Kind kind_of(std::string_view name) {
  if (name == "c_svc") return Kind::c_svc;
  if (name == "nu_svc") return Kind::nu_svc;
  if (name == "one_class") return Kind::one_class;
  if (name == "epsilon_svr") return Kind::epsilon_svr;
  return name == "nu_svr" ? Kind::nu_svr : Kind::automatic;
}

ops::KernelKind kernel_kind(std::string_view name) {
  if (name == "linear" || name == "precomputed") return ops::KernelKind::linear;
  if (name == "polynomial") return ops::KernelKind::polynomial;
  if (name == "rbf" || name == "laplacian" || name == "chi2") return ops::KernelKind::rbf;
  if (name == "sigmoid") return ops::KernelKind::sigmoid;
  throw Error(MK_INVALID_ARGUMENT, "unknown kernel '" + std::string(name) + "'");
}

Pairs pairs_of(std::string_view name) {
  if (name == "laplacian") return Pairs::manhattan;
  return name == "chi2" ? Pairs::chi_squared : Pairs::products;
}

// Calls take(x, count) for every input of the rows that a fit of this fold trains on; `count` zeros of a sparse row
// make one call.
template <class Take>
void for_each_input(const mk_data& data, const mk_sample& sample, int32_t fold, Take&& take) {
  for (int64_t i = 0; i < sample.places; ++i) {
    if (fold != MK_ALL_ROWS && sample.fold_of[i] == fold) continue;
    if (data.starts != nullptr) {
      const int64_t first = data.starts[sample.row[i]], end = data.starts[sample.row[i] + 1];
      for (int64_t k = first; k < end; ++k) take(double{data.x[k]}, 1.0);
      take(0.0, static_cast<double>(data.features - (end - first)));
      continue;
    }
    const float* const x = data.x + sample.row[i] * data.features;
    for (int64_t j = 0; j < data.features; ++j) take(double{x[j]}, 1.0);
  }
}

double input_variance(const mk_data& data, const mk_sample& sample, int32_t fold) {
  double sum = 0, squares = 0, count = 0;
  for_each_input(data, sample, fold, [&](double x, double times) {
    sum += x;
    count += times;
  });
  if (count == 0) return 0;
  for_each_input(data, sample, fold,
                 [&](double x, double times) { squares += times * ((x - sum / count) * (x - sum / count)); });
  return squares / count;
}

}  // namespace

const std::vector<mk_param> kParams = {
    {"C", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e12, "1.0", "", "penalty of a margin violation", nullptr, 0, 0},
    {"gamma", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1e6, "0.001", "", "scale of all kernels but the linear one",
     nullptr, 0, 0},
    {"kernel", MK_PARAM_TEXT, 0, 0, 0, "\"rbf\"", "linear|polynomial|rbf|sigmoid|laplacian|chi2|precomputed",
     "kernel function, as LIBSVM defines them; laplacian and chi2 as in scikit-learn's pairwise kernels; precomputed: "
     "the inputs of a row are its kernel values with all training rows",
     nullptr, 0, 0},
    {"degree", MK_PARAM_INTEGER, 0, 0, ops::kMaxDegree, "3", "", "exponent of the polynomial kernel", nullptr, 0, 0},
    {"coef0", MK_PARAM_REAL, 0, -1e6, 1e6, "0.0", "", "constant of the polynomial and sigmoid kernels", nullptr, 0, 0},
    {"multiclass", MK_PARAM_TEXT, 0, 0, 0, "\"ovr\"", "ovr|ovo",
     "one-vs-rest (largest decision value) or one-vs-one (votes)", nullptr, 0, 0},
    {"tol", MK_PARAM_REAL, MK_PARAM_EXCLUSIVE_MIN, 0, 1, "1e-3", "",
     "LIBSVM's stopping tolerance: the largest remaining violation", nullptr, 0, 0},
    {"max_iterations", MK_PARAM_INTEGER, 0, 1, 1e12, "10000000", "",
     "limit per binary problem; a fit that reaches it is marked capped", nullptr, 0, 0},
    {"gamma_unit", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"one\"", "one|auto|scale",
     "gamma is a multiple of 1, of 1 / features (auto), or of 1 / (features * variance of the inputs that a fit trains "
     "on) (scale)",
     nullptr, 0, 0},
    {"class_weight", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"\"", "",
     "C is multiplied by the weight of a row's class: \"balanced\" (rows / (classes * rows of the class)) or "
     "\"NAME=WEIGHT,...\" (others: 1); for two classes or one-vs-one",
     nullptr, 0, 0},
    {"solver", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"blocked\"", "libsvm|blocked",
     "libsvm: take LIBSVM's steps, one by one; blocked: solve whole blocks of rows to the same tolerance where "
     "this is faster, else take LIBSVM's steps, as all regressions do",
     nullptr, 0, 1},
    {"epsilon", MK_PARAM_REAL, MK_PARAM_YOUNGER, 0, 1e12, "0.1", "", "regression: errors up to this size cost nothing",
     nullptr, 0, 0},
    {"standardise_target", MK_PARAM_BOOL, MK_PARAM_YOUNGER, 0, 0, "false", "",
     "regression: learn (target - mean) / deviation over the training rows; metrics stay in the target's own unit",
     nullptr, 0, 0},
    {"tighten", MK_PARAM_BOOL, MK_PARAM_YOUNGER, 0, 0, "false", "",
     "solve an ill-determined fit again with a tolerance that is ten times smaller each time, down to 1e-6", nullptr, 0,
     0},
    {"kind", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"auto\"", "auto|c_svc|nu_svc|one_class|epsilon_svr|nu_svr",
     "LIBSVM's svm_type; auto: c_svc for classes, epsilon_svr for numbers", nullptr, 0, 0},
    {"nu", MK_PARAM_REAL, MK_PARAM_YOUNGER | MK_PARAM_EXCLUSIVE_MIN, 0, 1, "0.5", "",
     "nu_svc, one_class and nu_svr: least share of support vectors, and largest share of margin errors, outliers or "
     "errors above epsilon",
     nullptr, 0, 0},
    {"approximation", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"none\"", "none|nystrom",
     "none: solve on the kernel matrix of all rows; nystrom: solve on features that approximate it, made from each "
     "row's "
     "kernel values with the landmarks, so that memory and time grow with rows * landmarks",
     nullptr, 0, 0},
    {"landmarks", MK_PARAM_INTEGER, MK_PARAM_YOUNGER, 1, kMostLandmarks, "1000", "",
     "nystrom: number of rows that a fit draws from its training rows (scikit-learn's n_components)", nullptr, 0, 0},
    {"landmark_seed", MK_PARAM_INTEGER, MK_PARAM_YOUNGER, 0, 2147483647, "0", "",
     "nystrom: selects the draw of the landmarks and the order in which the solver visits rows", nullptr, 0, 0},
    {"kernel_storage", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"fp32\"", "fp32|fp16",
     "fp16: training and validation store each kernel value as the nearest IEEE half, in half the memory; predictions "
     "of "
     "the model use float32",
     nullptr, 0, 0},
};

const std::vector<mk_metric> kMetrics = {{"errors", 1, 0}, {"error", 0, 1}};
const std::vector<mk_metric> kRegressionMetrics = {{"mse", 0, 1}};

Settings settings_of(const mk_value* v) {
  Settings s;
  s.kind = kind_of(v[kKind].text);
  s.nu = v[kNu].real;
  s.c = v[kC].real;
  s.kernel.kind = kernel_kind(v[kKernel].text);
  s.kernel.pairs = pairs_of(v[kKernel].text);
  s.precomputed = std::string_view(v[kKernel].text) == "precomputed";
  s.kernel.gamma = v[kGamma].real;
  s.kernel.coef0 = v[kCoef0].real;
  s.kernel.degree = v[kDegree].integer;
  s.multiclass = std::string_view(v[kMulticlass].text) == "ovo" ? Multiclass::one_vs_one : Multiclass::one_vs_rest;
  s.tol = v[kTol].real;
  s.max_iterations = v[kMaxIterations].integer;
  const std::string_view unit = v[kGammaUnit].text;
  s.gamma_unit = unit == "auto" ? GammaUnit::automatic : unit == "scale" ? GammaUnit::scale : GammaUnit::one;
  s.class_weight = v[kClassWeight].text;
  s.solver = std::string_view(v[kSolver].text) == "blocked" ? SolverKind::blocked : SolverKind::libsvm;
  s.epsilon = v[kEpsilon].real;
  s.standardise_target = v[kStandardise].integer != 0;
  s.tighten = v[kTighten].integer != 0;
  s.approximates = std::string_view(v[kApproximation].text) == "nystrom";
  s.landmarks = v[kLandmarks].integer;
  s.landmark_seed = v[kLandmarkSeed].integer;
  s.storage = std::string_view(v[kKernelStorage].text) == "fp16" ? Storage::fp16 : Storage::fp32;
  return s;
}

std::vector<double> weights_of(const std::string& text, const mk_experiment& experiment, uint32_t sample,
                               int32_t fold) {
  return sdk::class_weights(text, *experiment.train, experiment.samples[sample], fold);
}

double size_of(GammaUnit unit, const mk_experiment& experiment, uint32_t sample, int32_t fold) {
  const auto features = static_cast<double>(experiment.train->features);
  if (unit == GammaUnit::automatic) return 1 / features;
  const double variance =
      unit == GammaUnit::scale ? input_variance(*experiment.train, experiment.samples[sample], fold) : 0;
  return variance > 0 ? 1 / (features * variance) : 1;  // scikit-learn uses 1 for constant inputs
}

void check_inputs(const Kernel& kernel, const float* x, int64_t rows, int64_t features, const char* what) {
  if (kernel.pairs != Pairs::chi_squared) return;
  const float* const end = x + rows * features;
  const float* const found = std::find_if(x, end, [](float value) { return value < 0; });
  if (found == end) return;
  throw Error(MK_BAD_DATA, std::string("the kernel chi2 compares frequencies, but feature ") +
                               std::to_string((found - x) % features + 1) + " of " + what + " " +
                               std::to_string((found - x) / features + 1) +
                               " is negative: choose another kernel, or set data.standardize to \"none\"");
}

bool same_kernel(const Kernel& a, const Kernel& b) {
  if (a.kind != b.kind || a.pairs != b.pairs) return false;
  switch (a.kind) {
    case ops::KernelKind::linear:
      return true;
    case ops::KernelKind::rbf:
    case ops::KernelKind::rbf_minus_one:
      return a.gamma == b.gamma;
    case ops::KernelKind::sigmoid:
      return a.gamma == b.gamma && a.coef0 == b.coef0;
    case ops::KernelKind::polynomial:
      return a.gamma == b.gamma && a.coef0 == b.coef0 && a.degree == b.degree;
  }
  return false;
}

bool same_features(const Settings& a, const Settings& b) {
  return a.approximates == b.approximates && same_kernel(a.kernel, b.kernel) &&
         (!a.approximates || (a.landmarks == b.landmarks && a.landmark_seed == b.landmark_seed));
}

bool same_chain(const Settings& a, const Settings& b) {
  return a.kind == b.kind && same_features(a, b) && a.multiclass == b.multiclass && a.solver == b.solver &&
         a.tol == b.tol && a.max_iterations == b.max_iterations && a.class_weights == b.class_weights &&
         a.epsilon == b.epsilon && a.standardise_target == b.standardise_target && a.tighten == b.tighten;
}

Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate) {
  return settings_of(experiment.values + static_cast<size_t>(candidate) * kParams.size());
}

}  // namespace mokume::svc
