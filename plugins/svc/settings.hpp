// Defines the parameters of a support vector machine, and the metrics that fits report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "matrix/kernel_plan.hpp"
#include "sdk/ops/kernel_map.hpp"

namespace mokume::svc {

enum class Multiclass { one_vs_rest, one_vs_one };

// Selects one of LIBSVM's machines. `automatic` is C-SVC for classes and epsilon-SVR for numbers.
enum class Kind { automatic, c_svc, nu_svc, one_class, epsilon_svr, nu_svr };

// Returns why a solution is not finite, with the cure.
constexpr const char* why_not_finite(Kind kind) {
  return kind == Kind::nu_svc
             ? "no margin separates the rows with this nu, or kernel values overflow: raise nu, or scale the data"
             : "kernel values overflow: scale the data or lower gamma, coef0 or degree";
}

// Returns whether nu takes the place of C (nu_svc, one_class) or of epsilon (nu_svr).
constexpr bool has_nu(Kind kind) { return kind == Kind::nu_svc || kind == Kind::one_class || kind == Kind::nu_svr; }

// A one-class machine accepts rows of the first of these classes and rejects rows of the second, as LIBSVM numbers
// them.
inline constexpr const char *kAccepted = "1", *kRejected = "-1";

// Selects LIBSVM's steps or blocks of rows. Both solvers find a solution within the tolerance, but not the same one,
// and they differ in speed.
enum class SolverKind { libsvm, blocked };

// Selects the unit of gamma: `one` is 1. The others are scikit-learn's `auto`, which is 1 / features, and `scale`,
// which is 1 / (features * variance of all inputs that a fit trains on).
enum class GammaUnit { one, automatic, scale };

// Selects what a kernel function takes of two rows x and y: their dot product, sum |x - y|, or sum (x - y)^2 / (x + y).
// The function of a distance is exp(-gamma * distance).
enum class Pairs { products, manhattan, chi_squared };

// A kernel of distances has the kind rbf, which is the same function of another distance.
struct Kernel : ops::KernelFunction {
  Pairs pairs = Pairs::products;
};

inline constexpr double kDefaultEpsilon = 0.1, kDefaultNu = 0.5;
inline constexpr int64_t kDefaultLandmarks = 1000, kMostLandmarks = 16384;

// Holds the parameters of one candidate.
struct Settings {
  Kind kind = Kind::automatic;
  double c = 1;
  double nu = kDefaultNu;  // only if has_nu(kind)
  Kernel kernel;           // gamma is in the following unit
  GammaUnit gamma_unit = GammaUnit::one;
  Multiclass multiclass = Multiclass::one_vs_rest;
  // If true, the inputs of a row are its kernel values with all training rows. `kernel` is then linear, because a
  // linear kernel with unit vectors yields these values.
  bool precomputed = false;
  double tol = 1e-3;
  int64_t max_iterations = 10'000'000;
  SolverKind solver = SolverKind::libsvm;
  bool tighten = false;              // whether to solve ill-determined fits again with smaller tolerances
  double epsilon = kDefaultEpsilon;  // regression only; errors up to this size cost nothing
  bool standardise_target = false;   // regression only; C, epsilon and tol are in units of the targets' deviation
  bool approximates = false;         // whether to solve on features of Nystrom's method
  int64_t landmarks = kDefaultLandmarks, landmark_seed = 0;  // only if it approximates
  Storage storage = Storage::fp32;                           // all candidates store kernel values in it
  std::string class_weight;                                  // text from the configuration
  std::vector<double> class_weights;                         // indexed by class, for one fit; empty if all are 1
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics, kRegressionMetrics;

// Reads values[p] in the order of kParams.
Settings settings_of(const mk_value* values);

// Returns the class weights for a fit of this fold of a sample, or {} if all are 1. Throws Error(MK_INVALID_ARGUMENT)
// if `text` is invalid.
std::vector<double> weights_of(const std::string& text, const mk_experiment& experiment, uint32_t sample, int32_t fold);

// Returns the unit as a number, for a fit of this fold of a sample.
double size_of(GammaUnit unit, const mk_experiment& experiment, uint32_t sample, int32_t fold);

bool same_kernel(const Kernel& a, const Kernel& b);

// Returns whether two candidates share a kernel matrix, or the features that approximate it.
bool same_features(const Settings& a, const Settings& b);

// Throws Error(MK_BAD_DATA) if a row of `x`, which `what` names, has a negative input and the kernel compares
// frequencies.
void check_inputs(const Kernel& kernel, const float* x, int64_t rows, int64_t features, const char* what);
// Returns whether two candidates differ only in C and nu.
bool same_chain(const Settings& a, const Settings& b);

Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate);

}  // namespace mokume::svc
