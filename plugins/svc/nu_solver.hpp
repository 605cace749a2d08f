// Implements the solver of nu-SVC, nu-SVR and one-class machines. It takes LIBSVM's steps. Devices that compile kernels
// run kernels/nu.cl, which describes the method; other devices run nu_native.cpp.
#pragma once

#include <optional>
#include <vector>

#include "solver.hpp"

namespace mokume::svc {

class NuSolver final : public Solver {
 public:
  NuSolver(const sdk::Host& host, const sdk::Device& device, bool regression, Storage storage);

  // Fetches the kernel rows that places requested, and advances every running place by a bounded number of steps.
  void advance(Places& places, KernelStore& store, int64_t max_iterations) override;
  bool restore(Places& places, KernelStore& store, int64_t place, const SolveState& state) override;

 private:
  sdk::Host host_;
  const sdk::Device& device_;
  bool regression_;
  std::optional<sdk::Program> program_;
};

}  // namespace mokume::svc
