// Implements the solver that takes LIBSVM's steps (docs/adr/0007). Devices that compile kernels run kernels/libsvm.cl;
// other devices run libsvm_native.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "libsvm_native.hpp"
#include "solver.hpp"

namespace mokume::svc {

// Limits the steps per launch. The limit is low enough to keep all compute units busy until the last problem finishes
// and to react to a cancellation, and high enough to hide the cost of a launch.
inline constexpr int kStepsPerLaunch = 512;
inline constexpr int kGroup = 64;  // work-items per problem in the "group" variant

// Returns the number of steps per launch. Devices with MK_DEVICE_SOFTWARE limit the loop iterations of a work-item, so
// the "group" variant takes fewer steps there. Each step counts both sweeps over the spans and the reductions of the
// group; a launch also counts a first and a last pass.
inline int32_t steps_per_launch(const mk_device_info& device, int64_t stride) {
  if ((device.flags & MK_DEVICE_SOFTWARE) == 0) return kStepsPerLaunch;
  constexpr int64_t kTurns = 60'000;
  const int64_t each = 2 * (stride / kGroup + kMaxSpans) + 64, once = stride / kGroup + stride / 16 + 64;
  return static_cast<int32_t>(std::clamp<int64_t>((kTurns - once) / each, 1, kStepsPerLaunch));
}

// Describes how a solver that takes LIBSVM's steps runs: by its kernel or, without a program, by native code.
struct StepRunner {
  const sdk::Host& host;
  const sdk::Device& device;
  const sdk::Program* program;
  const char* kernel;
  uint64_t items;        // work-items per problem
  int64_t turns_stride;  // stride that steps_per_launch() receives
  SmoFunction native;
  const char* native_name;

  // Advances the problems in these places by a bounded number of steps.
  void run(Places& places, const KernelStore& store, const std::vector<int32_t>& order, int64_t max_iterations) const;
};

class LibsvmSolver final : public Solver {
 public:
  LibsvmSolver(const sdk::Host& host, const sdk::Device& device, bool regression, Storage storage);

  // Fetches the kernel rows that places requested, and advances every running place by up to kStepsPerLaunch steps.
  void advance(Places& places, KernelStore& store, int64_t max_iterations) override;
  // Does the same for the running places of `order`.
  void advance_some(Places& places, KernelStore& store, const std::vector<int32_t>& order, int64_t max_iterations);
  bool restore(Places& places, KernelStore& store, int64_t place, const SolveState& state) override;

 private:
  sdk::Host host_;
  const sdk::Device& device_;
  bool regression_;
  bool groups_;  // whether a work-group solves each problem
  std::optional<sdk::Program> program_;
};

}  // namespace mokume::svc
