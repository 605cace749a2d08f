// A bench of places for binary problems that are solved side by side, and the state of each problem: what a solver
// advances, whichever solver it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_store.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"

namespace mokume::svc {

// The outcome of a solved problem, without its coefficients.
struct Solution {
  float rho = 0;  // decision = sum of coefficient * kernel - rho
  int64_t steps = 0;
  int64_t vectors = 0;  // support vectors
  int64_t at_c = 0;     // of these, those at C; if there are none, this also solves every larger C
  bool capped = false;  // stopped before it converged
};

// The state of one place, in the layout of kernels/places.cl.
struct PlaceInts {
  int32_t status, best, need, steps, at_c, vectors, coef_row, steps_left;
};
struct PlaceFloats {
  float up, low, rho, c, tol, up_rest, c_minus, rounding, epsilon;
};

// Status values of kernels/places.cl.
enum : int32_t { kRunning = 0, kConverged = 1, kNeed = 2, kStart = 3, kStuck = 4 };

class Places {
 public:
  // `coef_rows` is the number of rows in the coefficient matrix that receives the solutions.
  Places(const sdk::Device& device, const RowOrder& order, int64_t count, int64_t coef_rows);

  // Returns the device memory that `count` and `coef_rows` take, in bytes.
  static uint64_t bytes(const RowOrder& order, int64_t count, int64_t coef_rows);

  int64_t count() const { return count_; }
  int64_t stride() const { return order_.stride(); }
  const sdk::Buffer& coefficients() const { return coef_; }  // coef_rows x stride() floats

  // Puts a problem into a place, where it stays until another replaces it.
  void occupy(int64_t place, const BinaryProblem& problem);
  // Starts the problem of a place. Its coefficients go to `coef_row`; rows outside the problem get 0.
  struct Start {
    double c, tol;       // c: times the weights of classes and rows
    double epsilon = 0;  // of a regression
  };
  void start(int64_t place, const Start& start, int64_t coef_row);
  void stop(int64_t place) { active_[static_cast<size_t>(place)] = false; }

  // Returns the solution of a started place that is done; call stop() or start() afterwards.
  std::optional<Solution> solution(int64_t place) const;

  // ---- for solvers

  // The started places that are not done.
  std::vector<int32_t> running() const;
  // Sends which places to advance, and with send() also the state of all.
  void send_order(const std::vector<int32_t>& order) const;
  void send(const std::vector<int32_t>& order) const;
  void fetch();
  // Counts the steps that these places have taken since the last call. Ends those that are stuck or took `limit`.
  void count_steps(const std::vector<int32_t>& order, int64_t limit);

  std::vector<PlaceInts>& ints() { return ints_; }
  std::vector<PlaceFloats>& floats() { return floats_; }

  // What a kernel gets of the places.
  struct Buffers {
    sdk::Buffer order, ints, floats, spans, sign, flags, f, a, target, weight;
  };
  const Buffers& buffers() const { return buffers_; }
  const sdk::Device& device() const { return device_; }

 private:
  const sdk::Device& device_;
  const RowOrder& order_;
  int64_t count_;
  Buffers buffers_;
  sdk::Buffer coef_;
  std::vector<PlaceInts> ints_;
  std::vector<PlaceFloats> floats_;
  std::vector<int32_t> first_;                  // per place: the row where its problem starts
  std::vector<std::array<double, 2>> weights_;  // per place: of C for the rows of sign +1 and -1
  std::vector<bool> active_;
  std::vector<int64_t> steps_;  // of the running problem, in 64 bits
  std::vector<bool> capped_;
};

// Everything that a solver of the host accesses; host pointers.
struct PlaceArrays {
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
  const float* target;
  const float* weight;
  int64_t ld;
  const float* panels[kMaxPanels];
  int64_t panel_rows;
};

}  // namespace mokume::svc
