#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct Layer {
  std::string name;
  Size size;
  int64_t batch, inputs, outputs;
  double momentum = 0.9, decay = 0;
  int64_t t = 5;
  bool dx = true;
  Layout x{}, dy{}, weight{}, state{}, out{};
  bool after_relu = false, in_place = false;
};

Case layer_case(const Layer& l) {
  return {l.name, l.size, [l] {
            Problem p;
            const mk_tensor x = p.random(l.batch, l.inputs, l.x);
            if (l.after_relu) p.change(x, [](float v) { return v > 0 ? v : 0; });
            const mk_tensor dy = p.random(l.batch, l.outputs, l.dy);
            const mk_tensor weight = p.random(l.inputs, l.outputs, l.weight);
            // At the first step, the op ignores the state.
            mk_tensor state{}, dx{};
            if (l.momentum != 0)
              state = l.t == 1 ? p.unwritten(l.inputs, l.outputs, l.state) : p.random(l.inputs, l.outputs, l.state);
            if (l.dx) dx = l.in_place ? x : p.unwritten(l.batch, l.inputs, l.out);
            p.op = ops::linear_update(x, dy, weight, state, dx, {ops::Optimizer::sgd, 0.1, l.decay, l.momentum}, l.t,
                                      l.after_relu);
            return p;
          }};
}

std::vector<Case> cases() {
  const Layout a{3, 5}, b{1, 2}, c{7, 3}, d{2, 1}, e{5, 4};
  const Layer layers[] = {
      {"3x17x31", Size::tiny, 3, 17, 31},
      {"1x1x1", Size::tiny, 1, 1, 1},
      {"5x1x33", Size::tiny, 5, 1, 33},
      {"5x33x1", Size::tiny, 5, 33, 1},
      {"11x13x19_strided", Size::tiny, 11, 13, 19, 0.5, 0.01, 2, true, a, b, c, d, e},
      {"9x70x21_strided", Size::tiny, 9, 70, 21, 0.5, 0.01, 2, true, a, b, c, d, e},
      {"5x20x60_strided", Size::tiny, 5, 20, 60, 0.5, 0.01, 2, true, a, b, c, d, e},
      {"2x5x300_two_blocks", Size::tiny, 2, 5, 300},
      {"4x7x9_first_step", Size::tiny, 4, 7, 9, 0.9, 0.01, 1, true, a, b, c, d, e},
      {"4x7x9_no_momentum", Size::tiny, 4, 7, 9, 0, 0.01, 3, true, a, b, c, {}, e},
      {"4x7x9_no_dx", Size::tiny, 4, 7, 9, 0.9, 0, 3, false, a, b, c, d},
      {"4x7x9_neither", Size::tiny, 4, 7, 9, 0, 0, 3, false},
      {"4x7x9_after_relu", Size::tiny, 4, 7, 9, 0.9, 0.01, 3, true, a, b, c, d, e, true},
      {"5x33x1_after_relu", Size::tiny, 5, 33, 1, 0.9, 0.01, 3, true, a, b, {}, {}, e, true},
      {"4x7x9_in_place", Size::tiny, 4, 7, 9, 0.9, 0.01, 3, true, a, b, c, d, {}, true, true},
      {"5x33x1_in_place", Size::tiny, 5, 33, 1, 0.9, 0.01, 3, true, a, b, {}, {}, {}, true, true},
      {"3x19x1_strided", Size::tiny, 3, 19, 1, 0.9, 0.01, 3, true, a, b, c, d, e, true},
      {"3x19x1_first_step_no_dx", Size::tiny, 3, 19, 1, 0.9, 0.01, 1, false, a, b},
      {"no_rows_x1", Size::tiny, 0, 19, 1, 0.9, 0.01},
      {"no_rows", Size::tiny, 0, 7, 9, 0.9, 0.01, 3, true, a, b, c, d, e},
      {"most_rows_x9x20", Size::tiny, ops::kLinearUpdateRows, 9, 20},
      {"10x700x227", Size::normal, 10, 700, 227, 0.3, 0, 9},
      {"5x1300x600_strided", Size::normal, 5, 1300, 600, 0.9, 1e-4, 9, true, a, b, c, d, e},
      {"15x130x1030", Size::normal, 15, 130, 1030, 0.9, 1e-4},
      {"10x5000x10", Size::normal, 10, 5000, 10, 0.3},
      {"15x5003x47_after_relu", Size::normal, 15, 5003, 47, 0.9, 1e-4, 9, true, a, b, {}, {}, e, true},
      {"4x40x35_after_relu", Size::tiny, 4, 40, 35, 0.9, 1e-4, 9, true, a, b, {}, {}, e, true},
      {"16x600x32_first_step", Size::normal, 16, 600, 32, 0.9, 1e-4, 1},
      {"10x20011x1_after_relu", Size::normal, 10, 20011, 1, 0.3, 0, 9, true, {}, {}, {}, {}, {}, true},
      {"10x20011x1_in_place", Size::normal, 10, 20011, 1, 0.3, 0, 9, true, {}, {}, {}, {}, {}, true, true},
      {"5x1300x600_in_place", Size::normal, 5, 1300, 600, 0.9, 1e-4, 9, true, a, b, c, d, {}, true, true},
      {"5x1300x600_after_relu", Size::normal, 5, 1300, 600, 0.9, 1e-4, 9, true, a, b, c, d, e, true},
      {"10x300x70_no_dx", Size::normal, 10, 300, 70, 0.9, 0, 3, false, a, b, c, d},
      {"10x300x70_no_dx_of_zeros", Size::normal, 10, 300, 70, 0.9, 0, 3, false, a, b, c, d, {}, true},
      {"16x515x129_no_momentum", Size::normal, 16, 515, 129, 0},
      // So many rows let a GPU's work-items take two each (linear_update/lanes.cl).
      {"10x33801x49_tall", Size::normal, 10, 33801, 49, 0.3},
      {"16x33803x50_tall_after_relu", Size::normal, 16, 33803, 50, 0.9, 1e-4, 9, true, a, b, {}, {}, e, true},
      {"large_2x4100x4100", Size::large, 2, 4100, 4100},
  };
  std::vector<Case> list;
  for (const Layer& layer : layers) list.push_back(layer_case(layer));
  return list;
}

// The scales are the sums of the magnitudes of the terms of each output.
std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const mk_tensor &x = p.op.inputs[0], &dy = p.op.inputs[1], &weight = p.op.outputs[0], &state = p.op.outputs[1];
  const auto size = [&](const mk_tensor& t, int64_t r, int64_t c) { return std::fabs(p.at(t, r, c)); };
  std::vector<double> result;
  if (output == 2) {
    for (int64_t b = 0; b < x.rows; ++b)
      for (int64_t i = 0; i < weight.rows; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < weight.columns; ++j) sum += size(dy, b, j) * size(weight, i, j);
        result.push_back(sum);
      }
    return result;
  }
  const ops::OptimizerSettings o = ops::linear_update_settings(p.op);
  const bool remembers = o.states() > 0 && p.op.linear_update.t > 1;
  for (int64_t i = 0; i < weight.rows; ++i)
    for (int64_t j = 0; j < weight.columns; ++j) {
      double step = o.weight_decay * size(weight, i, j) + (remembers ? o.a * size(state, i, j) : 0);
      for (int64_t b = 0; b < x.rows; ++b) step += size(x, b, i) * size(dy, b, j);
      result.push_back(output == 1 ? step : size(weight, i, j) + o.lr * step);
    }
  return result;
}

const AddCases kAdded{{MK_OP_LINEAR_UPDATE, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
