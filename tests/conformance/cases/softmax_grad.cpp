#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

Case grad_case(const ElementwiseCase& e, float (*change)(float)) {
  return {e.name, e.size, [=] {
            Problem p;
            const mk_tensor grad = e.input(p);
            const mk_tensor y = p.random(e.rows, e.columns, {e.out.offset, e.in.padding}, 0, 1);
            if (change != nullptr) p.change(y, change);
            p.op = ops::softmax_grad(grad, y, e.output(p, grad));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) list.push_back(grad_case(e, nullptr));
  list.push_back(grad_case({"5x31_outputs_of_nan", Size::tiny, 5, 31}, with_some_nans));
  return list;
}

// The scale is |y| * (|grad| + sum of |grad| * |y|).
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &grad = p.op.inputs[0], &y = p.op.inputs[1];
  std::vector<double> result;
  for (int64_t r = 0; r < y.rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < y.columns; ++c) sum += std::fabs(p.at(grad, r, c) * p.at(y, r, c));
    for (int64_t c = 0; c < y.columns; ++c)
      result.push_back(std::fabs(p.at(y, r, c)) * (std::fabs(p.at(grad, r, c)) + sum));
  }
  return result;
}

const AddCases kAdded{{MK_OP_SOFTMAX_GRAD, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
