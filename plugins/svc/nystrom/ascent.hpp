// Solves linear machines on features by coordinate ascent in the dual problem (docs/adr/0059), side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "nystrom/features.hpp"
#include "rows.hpp"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"

namespace mokume::svc {

// Hold the state of one place, in the layout of kernels/ascent.cl.
struct AscentInts {
  int32_t signs;        // row of the matrix of signs
  int32_t step, start;  // the pass visits row (start + i * step) % rows in its i-th turn
  int32_t all;          // whether the pass visits all rows, or only the active ones
  int32_t moved;        // number of multipliers that the pass moved
};
struct AscentFloats {
  float c, c_minus, epsilon;
  float centre;         // the bias is centre + elastic * sum
  float elastic;        // change of the bias for a change of the sum by 1
  float sum, sum_rest;  // sum of the multipliers, as a pair
  float violation;      // largest violation that the pass has met
};

// Describes a machine to solve. Rows of sign +1 have the bound c, and those of sign -1 have c_minus.
struct AscentProblem {
  BinaryProblem rows;
  double c, c_minus, tol, epsilon;
  int64_t most_moves;
};

// Holds the outcome: decision = weights * features + bias. The weights are width() floats.
struct LinearMachine {
  std::vector<float> weights;
  float bias = 0;
  int64_t moves = 0;
  bool capped = false;
};

// Holds the pointers that native code uses.
struct AscentArrays {
  AscentInts* ints;
  AscentFloats* floats;
  const int8_t* signs;
  const float* target;
  const float* weight;
  const float* norms;
  float* multipliers;
  int8_t* active;
  float* weights;
  const float* panels[kFeaturePanels];
  int64_t panel_rows, rows, width;
};

class Ascent {
 public:
  // Allocates places for at most `problems` machines of one fold, as many as the budget allows beside `features`
  // and `reserve` bytes. Their classes make `kinds` different sets of signs.
  Ascent(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, const Features& features,
         int64_t problems, int64_t kinds, uint64_t reserve);

  // Return the bytes that one place takes, and what all places share.
  static uint64_t bytes_of_place(int64_t rows, int64_t width);
  static uint64_t shared_bytes(int64_t rows, int64_t kinds);

  // Solves the problems, and calls done(k, machine) for each as it ends, and idle() between passes. The bits of a
  // machine do not depend on the others.
  void solve(const std::vector<AscentProblem>& problems, int64_t seed,
             const std::function<void(size_t, LinearMachine)>& done, const std::function<void()>& idle);

 private:
  struct Place {
    size_t problem = 0;
    int64_t pass = 0, moves = 0;
    int partial = 0;   // passes over active rows since the last one over all rows
    float target = 0;  // violation at which such passes end
    bool used = false;
  };
  struct Signs {
    int32_t row = 0;  // in the matrix of signs
    int64_t positive = 0, negative = 0;
  };
  const Signs& signs_of(const BinaryProblem& problem);
  float elastic_of(const AscentProblem& problem, const Signs& signs) const;
  void begin(size_t place, size_t number, const AscentProblem& problem);
  void draw_order(size_t place, int64_t seed);
  void run_pass(const std::vector<int32_t>& running, const std::function<void()>& idle);
  void run_natively(const std::vector<int32_t>& running, int32_t first, int32_t count);
  // Looks at a finished pass, and returns the machine if the place is done.
  std::optional<LinearMachine> after_pass(size_t k, const AscentProblem& problem);

  sdk::Host host_;
  const sdk::Device& device_;
  const RowOrder& order_;
  const Features& features_;
  bool groups_;  // whether a work-group of kFeatureUnit items solves each problem
  std::optional<sdk::Program> program_;
  std::vector<Place> places_;
  std::vector<AscentInts> ints_;
  std::vector<AscentFloats> floats_;
  std::map<std::pair<int32_t, int32_t>, Signs> signs_of_;  // by the classes of a problem
  sdk::Buffer order_buffer_, ints_buffer_, floats_buffer_, signs_, target_, weight_, multipliers_, active_, weights_;
};

}  // namespace mokume::svc
