#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

struct LrnForm {
  const char* name;
  ops::Lrn lrn;
};

const LrnForm kForms[] = {{"_of_5", {5, 1e-4, 0.75, 1}},
                          {"_of_1", {1, 0.5, 1, 2}},
                          {"_of_4", {4, 2, 0.5, 0.1}},
                          {"_of_40", {40, 1, 2.5, 3}},
                          {"_without_alpha", {3, 0, 0.75, 1.5}}};

Case lrn_case(ElementwiseCase e, const LrnForm& form) {
  e.in_place = false;
  return {e.name + form.name, e.size, [=] {
            Problem p;
            const mk_tensor x = e.input(p);
            p.op = ops::lrn(x, form.lrn, e.output(p, x));
            return p;
          }};
}

Case grad_case(ElementwiseCase e, const LrnForm& form) {
  e.in_place = false;
  return {e.name + form.name, e.size, [=] {
            Problem p;
            const mk_tensor grad = e.input(p);
            const mk_tensor x = p.random(e.rows, e.columns, {e.out.offset + 1, e.in.padding}, -3, 3);
            p.op = ops::lrn_grad(grad, x, form.lrn, e.output(p, grad));
            return p;
          }};
}

std::vector<Case> cases(Case (*of)(ElementwiseCase, const LrnForm&)) {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases())
    for (const LrnForm& form : kForms) {
      list.push_back(of(e, form));
      if (e.size != Size::tiny) break;
    }
  return list;
}

// The scale is |out|.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>& want, Machine&) {
  std::vector<double> result = values_of(p.op.outputs[0], want);
  for (double& value : result) value = std::fabs(value);
  return result;
}

// The scale is the sum of the absolute values of all terms.
std::vector<double> grad_scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &grad = p.op.inputs[0], &x = p.op.inputs[1];
  const ops::Lrn& lrn = p.op.lrn;
  const double share = lrn.alpha / static_cast<double>(lrn.size);
  std::vector<double> result;
  for (int64_t r = 0; r < x.rows; ++r) {
    const auto sum_over = [&](int64_t first, int64_t last, const auto& term) {
      double sum = 0;
      for (int64_t k = std::max<int64_t>(0, first); k <= std::min(x.columns - 1, last); ++k) sum += term(k);
      return sum;
    };
    const auto norm = [&](int64_t c) {
      return lrn.bias + share * sum_over(c - ops::lrn_before(lrn), c + ops::lrn_after(lrn),
                                         [&](int64_t k) { return p.at(x, r, k) * p.at(x, r, k); });
    };
    for (int64_t c = 0; c < x.columns; ++c) {
      const double sum = sum_over(c - ops::lrn_after(lrn), c + ops::lrn_before(lrn), [&](int64_t k) {
        return std::fabs(p.at(grad, r, k) * p.at(x, r, k)) * std::pow(norm(k), -lrn.beta - 1);
      });
      result.push_back(std::fabs(p.at(grad, r, c)) * std::pow(norm(c), -lrn.beta) +
                       2 * share * lrn.beta * std::fabs(p.at(x, r, c)) * sum);
    }
  }
  return result;
}

const AddCases kAdded{{MK_OP_LRN, cases(lrn_case), scale}};
const AddCases kGradAdded{{MK_OP_LRN_GRAD, cases(grad_case), grad_scale}};

}  // namespace
}  // namespace mokume::conformance
