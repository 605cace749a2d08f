#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

// Returns the case with `pixels` rows of x for each factor.
Case multiply_case(const ElementwiseCase& e, int64_t pixels) {
  ElementwiseCase images = e;
  images.rows *= pixels;
  return {e.name + "_by_" + std::to_string(pixels), e.size, [images, e] {
            Problem p;
            const mk_tensor x = images.input(p);
            const mk_tensor factor = p.random(e.rows, e.columns, {e.out.offset + 1, e.in.padding}, -3, 3);
            p.op = ops::multiply(x, factor, images.output(p, x));
            return p;
          }};
}

Case factor_case(const ElementwiseCase& e, int64_t pixels) {
  return {e.name + "_by_" + std::to_string(pixels), e.size, [e, pixels] {
            Problem p;
            const mk_tensor grad = p.random(e.rows * pixels, e.columns, e.in);
            const mk_tensor x = p.random(e.rows * pixels, e.columns, {e.out.offset + 1, e.in.padding}, -3, 3);
            p.op = ops::multiply_grad_factor(grad, x, p.unwritten(e.rows, e.columns, e.out));
            return p;
          }};
}

std::vector<Case> cases(Case (*of)(const ElementwiseCase&, int64_t)) {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(of(e, 1));
    if (e.size != Size::large) list.push_back(of(e, 7));
  }
  list.push_back(of({"2x24", Size::normal, 2, 24, false, {1, 8}, {4, 0}}, 3136));
  return list;
}

// The scale is |x| * |factor|.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &x = p.op.inputs[0], &factor = p.op.inputs[1];
  std::vector<double> result;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result.push_back(std::fabs(p.at(x, r, c) * p.at(factor, r * factor.rows / x.rows, c)));
  return result;
}

// The scale is the sum of |grad| * |x|.
std::vector<double> scale_of_sum(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &grad = p.op.inputs[0], &x = p.op.inputs[1], &out = p.op.outputs[0];
  std::vector<double> result(static_cast<size_t>(out.rows * out.columns));
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result[static_cast<size_t>(r * out.rows / x.rows * out.columns + c)] +=
          std::fabs(p.at(grad, r, c) * p.at(x, r, c));
  return result;
}

const AddCases kAdded{{MK_OP_MULTIPLY, cases(multiply_case), scale}};
const AddCases kGradAdded{{MK_OP_MULTIPLY_GRAD_FACTOR, cases(factor_case), scale_of_sum}};

}  // namespace
}  // namespace mokume::conformance
