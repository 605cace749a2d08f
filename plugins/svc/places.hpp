// Places for binary problems that are solved side by side, and the state of each problem, which every solver advances.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_store.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"

namespace mokume::svc {

// The outcome of a solved problem without its coefficients.
struct Solution {
  float rho = 0;  // decision = sum of coefficient * kernel - rho
  int64_t steps = 0;
  int64_t vectors = 0;  // number of support vectors
  int64_t at_c = 0;     // number of support vectors at C; if 0, this solution is valid for every larger C
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
  // The coefficient matrix that receives the solutions has `coef_rows` rows.
  Places(const sdk::Device& device, const RowOrder& order, int64_t count, int64_t coef_rows);

  // Returns the device memory in bytes for `count` places and `coef_rows` coefficient rows.
  static uint64_t bytes(const RowOrder& order, int64_t count, int64_t coef_rows);

  int64_t count() const { return count_; }
  int64_t stride() const { return order_.stride(); }
  const sdk::Buffer& coefficients() const { return coef_; }  // coef_rows x stride() floats

  // Puts a problem into a place, where it stays until another problem replaces it.
  void occupy(int64_t place, const BinaryProblem& problem);
  // Starts the problem of a place. Its coefficients go to `coef_row`; rows outside the problem get 0.
  struct Start {
    double c, tol;       // c is multiplied by the weights of classes and rows
    double epsilon = 0;  // only for a regression
  };
  void start(int64_t place, const Start& start, int64_t coef_row);
  void stop(int64_t place) { active_[static_cast<size_t>(place)] = false; }

  // Returns the solution of a started place that is done. Call stop() or start() afterwards.
  std::optional<Solution> solution(int64_t place) const;

  // ---- for solvers

  // Returns the started places that are not done.
  std::vector<int32_t> running() const;
  // Sends the list of places to advance; send() also sends the state of all places.
  void send_order(const std::vector<int32_t>& order) const;
  void send(const std::vector<int32_t>& order) const;
  void fetch();
  // Counts the steps that these places have taken since the last call. Ends places that are stuck or reached `limit`.
  void count_steps(const std::vector<int32_t>& order, int64_t limit);

  std::vector<PlaceInts>& ints() { return ints_; }
  std::vector<PlaceFloats>& floats() { return floats_; }

  // The arrays of the places that kernels receive.
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
  std::vector<int32_t> first_;                  // row where the problem of each place starts
  std::vector<std::array<double, 2>> weights_;  // factors of C for rows of sign +1 and -1, for each place
  std::vector<bool> active_;
  std::vector<int64_t> steps_;  // 64-bit counts for the running problems
  std::vector<bool> capped_;
};

// The host pointers that a solver on the host uses.
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
