// A bench of places for binary problems that are solved side by side. Each launch advances every problem by a bounded
// number of SMO steps, with kernels/smo.cl where the device compiles kernels and with its native twin elsewhere.
//
// The solution of a problem depends neither on the problems solved alongside it, nor on the number of places, nor on
// the steps per launch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernel_store.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"

namespace mokume::svc {

// Steps per launch: few enough to keep all compute units busy until the last problem finishes and to react to a cancel,
// and enough to hide the cost of a launch.
inline constexpr int kStepsPerLaunch = 512;
inline constexpr int kGroup = 64;  // work-items per problem of the "group" variant

// Devices that cut a work-item's loops short (MK_DEVICE_SOFTWARE) get fewer steps, so that the "group" variant surely
// stays below that limit. Its turns are both sweeps over the spans and the group's reductions for each step, and a
// first and a last pass.
inline int32_t steps_per_launch(const mk_device_info& device, int64_t stride) {
  if ((device.flags & MK_DEVICE_SOFTWARE) == 0) return kStepsPerLaunch;
  constexpr int64_t kTurns = 60'000;
  const int64_t each = 2 * (stride / kGroup + kMaxSpans) + 64, once = stride / kGroup + stride / 16 + 64;
  return static_cast<int32_t>(std::clamp<int64_t>((kTurns - once) / each, 1, kStepsPerLaunch));
}

// The outcome of a solved problem, without its coefficients.
struct Solution {
  float rho = 0;  // decision = sum of coefficient * kernel - rho
  int64_t steps = 0;
  int64_t vectors = 0;  // support vectors
  bool at_c = false;    // whether a multiplier is at C; if not, this also solves every larger C
  bool capped = false;  // stopped before it converged
};

// The state of one place, in the layout of kernels/smo.cl.
struct PlaceInts {
  int32_t status, best, need, steps, at_c, vectors, coef_row, reserved;
};
struct PlaceFloats {
  float up, low, rho, c, tol, up_rest, c_minus, reserved;
};

// Everything a launch accesses; host pointers for the native twin.
struct SmoArrays {
  const int32_t* order;
  PlaceInts* ints;
  PlaceFloats* floats;
  const int32_t* spans;
  const int8_t* sign;
  int32_t* flags;
  float* f;
  float* a;
  float* coef;
  const float* diagonal;
  const int32_t* slot;
  int64_t ld;
  int32_t max_steps;
  const float* panels[kMaxPanels];
  int64_t panel_rows;
};

class SmoBench {
 public:
  // `coef_rows` is the number of rows in the coefficient matrix that receives the solutions.
  SmoBench(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, int64_t places, int64_t coef_rows);

  // Returns the device memory that `places` and `coef_rows` take, in bytes.
  static uint64_t bytes(const RowOrder& order, int64_t places, int64_t coef_rows);

  int64_t places() const { return places_; }
  const sdk::Buffer& coefficients() const { return coef_; }  // coef_rows x stride() floats

  // Puts a problem into a place, where it stays until another replaces it.
  void occupy(int64_t place, const BinaryProblem& problem);
  // Starts the problem of a place at C, times the weights of its classes. Its coefficients go to `coef_row`; rows
  // outside the problem get 0.
  void start(int64_t place, double c, double tol, int64_t coef_row);
  void stop(int64_t place);

  // Advances every started place by up to kStepsPerLaunch steps and fetches the rows that places requested.
  void advance(KernelStore& store, int64_t max_iterations);

  bool started(int64_t place) const { return active_[static_cast<size_t>(place)]; }
  // Returns the solution of a started place that is done; call stop() or start() afterwards.
  std::optional<Solution> solution(int64_t place) const;

 private:
  void launch(const KernelStore& store, const std::vector<int32_t>& order);
  void enqueue(const KernelStore& store, const std::vector<int32_t>& order, int32_t steps);
  void choose_variant(const KernelStore& store, const std::vector<int32_t>& order);

  sdk::Host host_;
  const sdk::Device& device_;
  const RowOrder& order_;
  int64_t places_;
  std::optional<sdk::Program> program_;
  std::string variant_;  // of the kernel; empty before the first launch
  sdk::Buffer order_buffer_, ints_buffer_, floats_buffer_, spans_, sign_, flags_, f_, a_, coef_;
  std::vector<PlaceInts> ints_;
  std::vector<PlaceFloats> floats_;
  std::vector<int32_t> first_;                  // per place: the row where its problem starts
  std::vector<std::array<double, 2>> weights_;  // per place: of C for the rows of sign +1 and -1
  std::vector<bool> active_;
  std::vector<int64_t> steps_;  // of the running problem, in 64 bits
  std::vector<bool> capped_;
};

}  // namespace mokume::svc
