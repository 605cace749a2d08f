// Manages places, in which solvers solve binary problems side by side, and the state of each problem.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/kernel_store.hpp"
#include "nu_start.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"
#include "solve_state.hpp"

namespace mokume::svc {

// Hold the state of one place, in the layout of kernels/places.cl.
struct PlaceInts {
  int32_t status, best, need, steps, at_c, vectors, coef_row;
  int32_t steps_left;  // or, in the solver of problems with nu, the first row of a pair of side 1
};
struct PlaceFloats {
  float up, low, rho, c, tol, up_rest, c_minus, rounding, epsilon;
};

class Places {
 public:
  // The coefficient matrix that receives the solutions has `coef_rows` rows. Problems with nu need two `sides`, others
  // one.
  Places(const sdk::Device& device, const RowOrder& order, int64_t count, int64_t coef_rows, int64_t sides);

  // Returns the bytes of device memory that `count` places and `coef_rows` coefficient rows take.
  static uint64_t bytes(const RowOrder& order, int64_t count, int64_t coef_rows, int64_t sides);

  int64_t count() const { return count_; }
  int64_t stride() const { return order_.stride(); }
  const sdk::Buffer& coefficients() const { return coef_; }  // coef_rows x stride() floats

  // Puts a problem into a place, where it stays until another problem replaces it.
  void occupy(int64_t place, const BinaryProblem& problem);
  struct Start {
    double c, tol;                               // the weights of classes and rows multiply c
    double epsilon = 0;                          // only for an epsilon-SVR
    std::array<SideMultipliers, 2> multipliers;  // only for problems with nu; others start at 0
  };
  // Starts the problem of a place. The solver writes the coefficients, 0 for rows outside the problem, to `coef_row`.
  void start(int64_t place, const Start& start, int64_t coef_row);
  // Returns the state of a running problem, or nothing before its first steps.
  std::optional<SolveState> state(int64_t place) const;
  // Continues the problem of a started place from a state that may be anything. Returns false, and changes nothing, if
  // the state does not fit the problem.
  bool restore(int64_t place, const SolveState& state);
  void stop(int64_t place) { active_[static_cast<size_t>(place)] = false; }

  // Returns the solution of a started place, or nothing while it is running. The caller then calls stop() or start().
  std::optional<Solution> solution(int64_t place) const;

  // The following members are for solvers.

  // Returns the started places that are not done.
  std::vector<int32_t> running() const;
  // Sends the list of places to advance; send() also sends the state of all places.
  void send_order(const std::vector<int32_t>& order) const;
  void send(const std::vector<int32_t>& order) const;
  void fetch();
  // Returns the most steps that each of these places may take now, but at least 1 and at most `most`, so that none
  // exceeds `limit` in all.
  int32_t steps_within(const std::vector<int32_t>& order, int64_t limit, int32_t most) const;
  // Adds the steps that these places took since the last call. Marks places that are stuck or reached `limit` as
  // capped.
  void count_steps(const std::vector<int32_t>& order, int64_t limit);

  std::vector<PlaceInts>& ints() { return ints_; }
  std::vector<PlaceFloats>& floats() { return floats_; }

  // Holds the arrays of the places that kernels receive.
  struct Buffers {
    sdk::Buffer order, ints, floats, spans, sign, flags, f, a, target, weight;
  };
  const Buffers& buffers() const { return buffers_; }
  const sdk::Device& device() const { return device_; }
  int64_t rows() const { return order_.rows(); }

 private:
  bool fits(int64_t place, const SolveState& state) const;
  int64_t rows_of_spans(int64_t place) const;
  // Copy the rows of a problem's spans, of `parts` arrays of stride() elements that follow each other in a buffer.
  template <class T>
  std::vector<T> read_spans(const sdk::Buffer& from, int64_t place, int64_t parts) const;
  template <class T>
  void write_spans(const sdk::Buffer& to, int64_t place, int64_t parts, const std::vector<T>& values) const;

  const sdk::Device& device_;
  const RowOrder& order_;
  int64_t count_;
  int64_t sides_;
  Buffers buffers_;
  sdk::Buffer coef_;
  std::vector<PlaceInts> ints_;
  std::vector<PlaceFloats> floats_;
  std::vector<std::vector<int32_t>> spans_;
  std::vector<int32_t> first_;                  // row where the problem of each place starts
  std::vector<std::array<double, 2>> weights_;  // factors of C for rows of sign +1 and -1, for each place
  std::vector<bool> active_;
  std::vector<int64_t> steps_;  // 64-bit step counts of the current problems
  std::vector<bool> capped_;
};

// Holds the pointers that a solver on the host uses.
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
  const void* panels[kMaxPanels];  // rows of floats or halves
  int64_t panel_rows;
};

}  // namespace mokume::svc
