#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

using ops::KernelFunction;
using ops::KernelKind;

struct Shape {
  int64_t rows, columns;
  bool in_place = false;
  Layout dot{}, out{};
  float dot_range = 1;
};

Case map_case(std::string name, Size size, const KernelFunction& f, const Shape& s) {
  return {std::move(name), size, [=] {
            Problem p;
            const mk_tensor dot = p.random(s.rows, s.columns, s.dot, -s.dot_range, s.dot_range);
            mk_tensor norm_x{}, norm_y{};
            if (ops::needs_norms(f.kind)) {
              norm_x = p.random(1, s.rows, {s.dot.offset, 0}, 0.5F * s.dot_range, 2.0F * s.dot_range);
              norm_y = p.random(1, s.columns, {s.out.offset, 0}, 0.5F * s.dot_range, 2.0F * s.dot_range);
            }
            const mk_tensor out = s.in_place ? dot : p.unwritten(s.rows, s.columns, s.out);
            p.op = ops::kernel_map(dot, norm_x, norm_y, out, f);
            return p;
          }};
}

std::vector<Case> cases() {
  const KernelFunction from_one{KernelKind::rbf_minus_one, 0.7, 0, 3};
  const KernelFunction linear{KernelKind::linear, 1, 0, 3}, rbf{KernelKind::rbf, 0.7, 0, 3};
  const KernelFunction cubic{KernelKind::polynomial, 0.3, 1.1, 3}, sigmoid{KernelKind::sigmoid, 0.8, -0.2, 3};
  std::vector<Case> list;
  const auto add = [&](const std::string& name, Size size, const KernelFunction& f, const Shape& shape) {
    list.push_back(map_case(name, size, f, shape));
  };
  const std::pair<const char*, KernelFunction> kinds[] = {
      {"linear", linear}, {"polynomial", cubic}, {"rbf", rbf}, {"sigmoid", sigmoid}, {"rbf_minus_one", from_one}};
  for (const auto& [kind, f] : kinds) {
    const std::string name = kind;
    add(name + "_1x1", Size::tiny, f, {1, 1});
    add(name + "_3x17", Size::tiny, f, {3, 17});
    add(name + "_17x31_strided", Size::tiny, f, {17, 31, false, {3, 5}, {1, 2}});
    add(name + "_19x7_in_place", Size::tiny, f, {19, 7, true, {2, 3}});
    add(name + "_no_rows", Size::tiny, f, {0, 5});
    add(name + "_no_columns", Size::tiny, f, {5, 0, false, {0, 2}, {0, 3}});
    add(name + "_129x1000", Size::normal, f, {129, 1000});
    add(name + "_1000x10_in_place", Size::normal, f, {1000, 10, true, {1, 1}});
    add(name + "_300x259_wide_range", Size::normal, f, {300, 259, false, {1, 0}, {0, 1}, 10});
  }
  add("rbf_gamma_zero", Size::tiny, {KernelKind::rbf, 0, 0, 3}, {3, 9});
  add("rbf_underflows_to_zero", Size::tiny, {KernelKind::rbf, 1e6, 0, 3}, {5, 33});
  add("rbf_minus_one_tiny_gamma", Size::tiny, {KernelKind::rbf_minus_one, 1e-6, 0, 3}, {5, 33});
  add("rbf_minus_one_underflows_to_minus_one", Size::tiny, {KernelKind::rbf_minus_one, 1e6, 0, 3}, {5, 33});
  add("rbf_large_dot", Size::tiny, {KernelKind::rbf, 1e-30, 0, 3}, {5, 33, false, {}, {}, 1e30F});
  add("polynomial_degree_0", Size::tiny, {KernelKind::polynomial, 2, 1, 0}, {3, 9});
  add("polynomial_degree_1", Size::tiny, {KernelKind::polynomial, 2, 1, 1}, {3, 9});
  add("polynomial_degree_7_negative", Size::tiny, {KernelKind::polynomial, -2, 0.5, 7}, {5, 11});
  add("polynomial_degree_64", Size::tiny, {KernelKind::polynomial, 1, 0.25, 64}, {5, 33});
  add("polynomial_large_dot", Size::tiny, {KernelKind::polynomial, 1e-3, 1, 5}, {5, 33, false, {}, {}, 1e9F});
  add("sigmoid_saturates", Size::tiny, {KernelKind::sigmoid, 1e5, 0, 3}, {5, 33, true});
  add("sigmoid_near_zero", Size::tiny, {KernelKind::sigmoid, 1e-4, 0, 3}, {5, 33});
  add("large_rbf_4100x4100_in_place", Size::large, rbf, {4100, 4100, true, {1, 0}});
  return list;
}

// Returns the scale that core/sdk/ops/kernel_map.hpp states for one element.
double scale_of(const KernelFunction& f, double dot, double norms, double value) {
  switch (f.kind) {
    case KernelKind::linear:
      return std::fabs(value);
    case KernelKind::polynomial:
      return std::pow(std::fabs(f.gamma * dot) + std::fabs(f.coef0), f.degree) * std::max<int64_t>(1, f.degree);
    case KernelKind::rbf:
      return 1 + std::fabs(f.gamma) * (norms + 2 * std::fabs(dot)) * value;
    case KernelKind::rbf_minus_one:
      return 1 + std::fabs(f.gamma) * (norms + 2 * std::fabs(dot)) * (1 + value);
    case KernelKind::sigmoid:
      return 1 + std::fabs(f.gamma) * 2 * std::fabs(dot) * (1 - value * value);
  }
  return 0;
}

std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>& want, Machine&) {
  const mk_op& op = p.op;
  const KernelFunction f = ops::kernel_function_of(op);
  const mk_tensor& out = op.outputs[0];
  std::vector<double> result;
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) {
      const double norms = ops::needs_norms(f.kind) ? p.at(op.inputs[1], 0, r) + p.at(op.inputs[2], 0, c) : 0;
      const double value = as_float(want[Problem::memory_of(out)][Problem::place(out, r, c)]);
      result.push_back(scale_of(f, p.at(op.inputs[0], r, c), norms, value));
    }
  return result;
}

const AddCases kAdded{{MK_OP_KERNEL_MAP, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
