// Holds the code that the cases of both losses share.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

struct LossCase {
  std::string name;
  Size size;
  int64_t batch, columns, data_rows;
  enum Gradient { apart, in_place, none } gradient = apart;
  Layout in{}, out{};
  float range = 2;
  double scale = 0.125;

  mk_tensor prediction(Problem& p) const { return p.random(batch, columns, in, -range, range); }
  mk_tensor index(Problem& p) const {
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < batch; ++i) rows.push_back(static_cast<int32_t>((i * 7919 + i / 3 + 1) % data_rows));
    return p.indices(rows, out.offset + 1);
  }
  mk_tensor rows(Problem& p) const { return p.unwritten(batch, 2, {in.offset + 1, out.padding}); }
  // Makes a weight for each row of the data set; some weights are 0.
  mk_tensor weight(Problem& p) const {
    const mk_tensor w = p.random(1, data_rows, {out.offset + 2, 0}, -0.25F, 2);
    p.change(w, [](float v) { return v < 0 ? 0 : v; });
    return w;
  }
  mk_tensor grad(Problem& p, const mk_tensor& prediction) const {
    if (gradient == none) return {};
    return gradient == in_place ? prediction : p.unwritten(batch, columns, out);
  }
};

// Returns the weight of row r of the batch, or 1 without weights.
inline double weight_of(const Problem& p, int64_t r) {
  if (p.op.n_inputs < 4) return 1;
  const mk_tensor& index = p.op.inputs[2];
  return p.at(p.op.inputs[3], 0, p.memory[Problem::memory_of(index)][Problem::place(index, 0, r)]);
}

inline std::vector<LossCase> loss_cases() {
  return {
      {"3x10", Size::tiny, 3, 10, 7},
      {"1x1", Size::tiny, 1, 1, 1},
      {"2x1_of_1", Size::tiny, 2, 1, 1},
      {"31x17_strided", Size::tiny, 31, 17, 50, LossCase::apart, {3, 5}, {1, 2}},
      {"17x10_in_place", Size::tiny, 17, 10, 20, LossCase::in_place, {2, 3}, {0, 1}},
      {"17x10_without_gradient", Size::tiny, 17, 10, 20, LossCase::none, {1, 0}, {0, 3}},
      {"5x129", Size::tiny, 5, 129, 6},
      {"4x33_scale_0", Size::tiny, 4, 33, 9, LossCase::apart, {}, {}, 2, 0},
      {"4x33_scale_negative", Size::tiny, 4, 33, 9, LossCase::apart, {}, {}, 2, -1.5},
      {"no_rows", Size::tiny, 0, 10, 5},
      {"300x10", Size::normal, 300, 10, 1000, LossCase::in_place, {}, {}, 5, 1.0 / 300},
      {"65x1000_strided", Size::normal, 65, 1000, 100, LossCase::apart, {1, 3}, {2, 1}, 5, 1.0 / 65},
      {"10000x3", Size::normal, 10000, 3, 20000},
  };
}

}  // namespace mokume::conformance
