#include <cmath>

#include "activations.hpp"
#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

using ops::Activation;

enum Bias { none, row, each };

constexpr double kSlope = 0.0625;

Case bias_case(const ElementwiseCase& e, const std::string& kind, Bias biased, Activation activation) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor x = e.input(p);
            if (activation > Activation::relu) p.change(x, [](float v) { return 6 * v; });
            const int64_t rows = biased == each ? e.rows : 1;
            const mk_tensor bias = biased != none ? p.random(rows, e.columns, {e.in.offset + 1, 0}) : mk_tensor{};
            p.op = ops::bias_act(x, bias, activation, e.output(p, x), kSlope);
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
    for (const auto& [name, activation] : kActivations) {
      list.push_back(bias_case(e, "_" + std::string(name), none, activation));
      if (e.size != Size::tiny) continue;
      list.push_back(bias_case(e, "_bias_" + std::string(name), row, activation));
      list.push_back(bias_case(e, "_sum_" + std::string(name), each, activation));
    }
  }
  for (const auto& [name, activation] : kActivations)
    list.push_back({"edges_" + std::string(name), Size::tiny, [kind = activation] {
                      Problem p;
                      const mk_tensor x = edge_values(p);
                      p.op = ops::bias_act(x, {}, kind, p.unwritten(x.rows, x.columns), kSlope);
                      return p;
                    }});
  return list;
}

// The scale is |x| + |bias|, plus 1 for sigmoid and hard_sigmoid.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_op& op = p.op;
  const mk_tensor& x = op.inputs[0];
  const Activation activation = op.bias_act.activation;
  const bool to_one = activation == Activation::sigmoid || activation == Activation::hard_sigmoid;
  const double least = to_one ? 1 : kAnyZero;
  std::vector<double> result;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      result.push_back(least + std::fabs(p.at(x, r, c)) +
                       (op.n_inputs == 2 ? std::fabs(p.at(op.inputs[1], op.inputs[1].rows > 1 ? r : 0, c)) : 0));
  return result;
}

const AddCases kAdded{{MK_OP_BIAS_ACT, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
