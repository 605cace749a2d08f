#include "nystrom/check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sdk/error.hpp"
#include "session.hpp"

namespace mokume::svc {
namespace {

// Refuses parameters without effect or without a meaning for features of landmarks.
void check_approximation(const Settings& settings) {
  const auto refuse = [](const std::string& what) { throw Error(MK_INVALID_ARGUMENT, what); };
  if (!settings.approximates) {
    if (settings.landmarks != kDefaultLandmarks || settings.landmark_seed != 0)
      refuse(
          "landmarks and landmark_seed have no effect without an approximation: set approximation to \"nystrom\", or "
          "remove them");
    return;
  }
  if (settings.precomputed)
    refuse(
        "approximation \"nystrom\" computes kernel values from inputs, which a precomputed kernel lacks: choose "
        "another "
        "kernel, or set approximation to \"none\"");
  if (settings.kernel.kind == ops::KernelKind::sigmoid)
    refuse(
        "the kernel sigmoid is not positive definite, so no features approximate it: choose another kernel, or set "
        "approximation to \"none\"");
  if (settings.kernel.kind == ops::KernelKind::polynomial && settings.kernel.coef0 < 0)
    refuse(
        "a polynomial kernel with a negative coef0 is not positive definite, so no features approximate it: raise "
        "coef0, or set approximation to \"none\"");
  if (has_nu(settings.kind))
    refuse(
        "approximation \"nystrom\" has no machines with nu: set kind to \"c_svc\" or \"epsilon_svr\", or approximation "
        "to \"none\"");
  if (settings.solver == SolverKind::libsvm || settings.tighten)
    refuse("approximation \"nystrom\" has a solver of its own, so solver and tighten have no effect: remove them");
}

// Throws if a fit trains on fewer rows than it has landmarks.
void check_landmarks(const mk_experiment& experiment, int64_t landmarks) {
  for (uint32_t s = 0; s < experiment.n_bootstraps; ++s) {
    const mk_sample& sample = experiment.samples[s];
    std::vector<int64_t> held_out(experiment.n_folds + 1, 0);
    for (int64_t i = 0; experiment.n_folds > 0 && i < sample.places; ++i)
      ++held_out[static_cast<size_t>(sample.fold_of[i] + 1)];
    held_out.front() = 0;  // rows that no fold holds out
    const int64_t least = sample.places - *std::max_element(held_out.begin(), held_out.end());
    if (landmarks > least)
      throw Error(MK_INVALID_ARGUMENT, "landmarks is " + std::to_string(landmarks) + ", but a fit trains on only " +
                                           std::to_string(least) +
                                           " rows: lower landmarks, or set approximation to \"none\"");
  }
}

}  // namespace

void check_approximations(const mk_experiment& experiment) {
  int64_t landmarks = 0;
  for (uint32_t c = 0; c < experiment.n_candidates; ++c) {
    const Settings settings = candidate_settings(experiment, c);
    check_approximation(settings);
    if (settings.approximates && experiment.train->starts != nullptr)
      throw Error(MK_UNSUPPORTED,
                  "approximation \"nystrom\" takes dense rows: remove data.storage, or set approximation to \"none\"");
    if (settings.approximates) landmarks = std::max(landmarks, settings.landmarks);
  }
  check_landmarks(experiment, landmarks);
}

}  // namespace mokume::svc
