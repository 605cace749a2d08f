#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

using ops::Activation;

enum Bias { none, row, each };

Case bias_case(const ElementwiseCase& e, const std::string& kind, Bias biased, Activation activation) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor x = e.input(p);
            const int64_t rows = biased == each ? e.rows : 1;
            const mk_tensor bias = biased != none ? p.random(rows, e.columns, {e.in.offset + 1, 0}) : mk_tensor{};
            p.op = ops::bias_act(x, bias, activation, e.output(p, x));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(bias_case(e, "_bias_relu", row, Activation::relu));
    if (e.size == Size::large) continue;
    list.push_back(bias_case(e, "_bias", row, Activation::none));
    list.push_back(bias_case(e, "_sum", each, Activation::none));
    list.push_back(bias_case(e, "_sum_relu", each, Activation::relu));
    list.push_back(bias_case(e, "_relu", none, Activation::relu));
    list.push_back(bias_case(e, "_copy", none, Activation::none));
  }
  return list;
}

// |x| + |bias|
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_op& op = p.op;
  const mk_tensor& x = op.inputs[0];
  std::vector<double> result;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result.push_back(std::fabs(p.at(x, r, c)) +
                       (op.n_inputs == 2 ? std::fabs(p.at(op.inputs[1], op.inputs[1].rows > 1 ? r : 0, c)) : 0));
  return result;
}

const AddCases kAdded{{MK_OP_BIAS_ACT, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
