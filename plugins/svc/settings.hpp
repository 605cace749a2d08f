// The parameters of a C-SVC and the metrics it reports.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "sdk/ops/kernel_map.hpp"

namespace mokume::svc {

enum class Multiclass { one_vs_rest, one_vs_one };

// One candidate, with all values resolved.
struct Settings {
  double c = 1;
  ops::KernelFunction kernel;
  Multiclass multiclass = Multiclass::one_vs_rest;
  double tol = 1e-3;
  int64_t max_iterations = 10'000'000;
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics;

// values[p] in the order of kParams.
Settings settings_of(const mk_value* values);

bool same_kernel(const ops::KernelFunction& a, const ops::KernelFunction& b);
// Returns whether two candidates differ only in C.
bool same_chain(const Settings& a, const Settings& b);

}  // namespace mokume::svc
