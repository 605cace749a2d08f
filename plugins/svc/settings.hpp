// The parameters of a C-SVC or an epsilon-SVR, and the metrics they report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "sdk/ops/kernel_map.hpp"

namespace mokume::svc {

enum class Multiclass { one_vs_rest, one_vs_one };

// Which of many solutions within the tolerance is found, and how fast: by LIBSVM's steps, or by blocks of rows.
enum class SolverKind { libsvm, blocked };

// What gamma is a multiple of, as scikit-learn defines the words: 1; 1 / features; 1 / (features * variance of all
// inputs that a fit trains on).
enum class GammaUnit { one, automatic, scale };

inline constexpr double kDefaultEpsilon = 0.1;

// One candidate, with all values resolved.
struct Settings {
  double c = 1;
  ops::KernelFunction kernel;  // its gamma is in this unit:
  GammaUnit gamma_unit = GammaUnit::one;
  Multiclass multiclass = Multiclass::one_vs_rest;
  // The inputs of a row are its kernel values with all training rows, and `kernel` is linear: over unit vectors, it
  // gives these values.
  bool precomputed = false;
  double tol = 1e-3;
  int64_t max_iterations = 10'000'000;
  SolverKind solver = SolverKind::libsvm;
  bool tighten = false;               // solve ill-determined fits again with smaller tolerances
  double epsilon = kDefaultEpsilon;   // regression: errors up to this cost nothing
  bool standardise_target = false;    // regression: C, epsilon and tol are in units of the targets' deviation
  std::string class_weight;           // as the file says it
  std::vector<double> class_weights;  // of each class, for one fit; empty: all 1
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics, kRegressionMetrics;

// values[p] in the order of kParams.
Settings settings_of(const mk_value* values);

// The weights of the classes for a fit of this fold of a sample; empty if all are 1. Throws Error(MK_INVALID_ARGUMENT)
// naming what is wrong with the text.
std::vector<double> weights_of(const std::string& text, const mk_experiment& experiment, uint32_t sample, int32_t fold);

// The unit as a number, for a fit of this fold of a sample.
double size_of(GammaUnit unit, const mk_experiment& experiment, uint32_t sample, int32_t fold);

bool same_kernel(const ops::KernelFunction& a, const ops::KernelFunction& b);
// Returns whether two candidates differ only in C.
bool same_chain(const Settings& a, const Settings& b);

}  // namespace mokume::svc
