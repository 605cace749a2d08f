// Implements the solver with large working sets. Devices that compile kernels run kernels/blocked.cl, which describes
// the method; other devices run blocked_native.cpp. docs/adr/0034 contains measurements.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "blocked_native.hpp"
#include "libsvm_solver.hpp"
#include "solver.hpp"

namespace mokume::svc {

// Returns the largest size of a working set for a data set with `rows` rows. The size is part of the method, because
// the solution that the solver finds within the tolerance depends on it.
constexpr int64_t working_set(int64_t rows) {
  const auto half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows / 2)));
  return std::clamp<int64_t>(half, 64, rows <= 8192 ? 512 : 1024);
}

// A round is poor if it takes fewer steps than a quarter of the largest working set. Where many more multipliers are
// free than fit into a working set, nearly every round is: it copies and updates kernel rows for a few dozen steps,
// which LIBSVM's solver takes sooner. After this many poor rounds without another, LIBSVM's steps continue the problem
// from its state.
constexpr int32_t kMostPoorRounds = 16;

// A work-group of a GPU takes a round sooner than even a few steps, so it hands no problem over unless numerics are
// strict.
class BlockedSolver final : public Solver {
 public:
  // Builds the kernels and allocates memory for `count` places.
  BlockedSolver(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, int64_t count,
                Storage storage);

  // Returns the bytes of device memory that the solver takes for `count` places.
  static uint64_t bytes(const RowOrder& order, int64_t count);

  void advance(Places& places, KernelStore& store, int64_t max_iterations) override;
  std::optional<SolveState> state(const Places& places, int64_t place) const override;
  bool restore(Places& places, KernelStore& store, int64_t place, const SolveState& state) override;

 private:
  using Order = std::vector<int32_t>;

  void advance_rounds(Places& places, KernelStore& store, const Order& order, int64_t max_iterations);
  LibsvmSolver& steps();
  bool takes_steps(int64_t place) const { return handed_over_[static_cast<size_t>(place)]; }
  void round(Places& places, KernelStore& store, const Order& order);
  void choose(Places& places, const Order& order);
  void gather(Places& places, const KernelStore& store, const Order& order);
  void solve_and_update(Places& places, const KernelStore& store, const Order& order);
  BlockArrays arrays_of_blocks(Places& places, const KernelStore* store) const;
  bool are_members(const std::vector<int32_t>& rows, const Places& places) const;
  uint64_t place_of_inner(int64_t place, size_t part) const;
  void set_counts(int64_t place, const SolveState& state, int32_t inside) const;
  uint64_t items() const { return groups_ ? kItems : 1; }

  static constexpr uint64_t kItems = 256;  // work-items of a work-group

  sdk::Host host_;
  const sdk::Device& device_;
  int64_t set_;
  bool groups_;        // whether a work-group, not a work-item, solves each problem
  int32_t most_poor_;  // poor rounds before a problem is handed over
  std::optional<sdk::Program> program_;
  BlockedFunctions native_;
  Storage storage_;
  std::optional<LibsvmSolver> steps_;  // as soon as a problem is handed over
  std::vector<bool> handed_over_;      // whether LIBSVM's steps solve the problem of a place
  sdk::Buffer counts_, members_, moved_, delta_, inner_, tile_;
};

}  // namespace mokume::svc
