#include <cmath>

#include "activations.hpp"
#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

using ops::Activation;

Case grad_case(const ElementwiseCase& e, const std::string& kind, Activation activation) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor grad = e.input(p);
            // As in outputs of relu, about half of the elements are 0. Negative values and NaNs pass nothing either.
            const mk_tensor random = p.random(e.rows, e.columns, {e.out.offset + 1, e.out.padding + 1});
            for (int64_t r = 0; r < e.rows; ++r)
              for (int64_t c = 0; c < e.columns; ++c) {
                uint32_t& word = p.memory[Problem::memory_of(random)][Problem::place(random, r, c)];
                if (c % 5 == 4) continue;
                if (as_float(word) < 0) word = c % 5 == 0 ? as_word(-0.0F) : 0;
                if (c % 11 == 3) word = 0x7FC00000U;
              }
            if (ops::takes_input(activation)) p.change(random, [](float v) { return 6 * v; });
            p.op = ops::act_grad(grad, random, activation, e.output(p, grad), 0.0625);
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(grad_case(e, "_relu", Activation::relu));
    if (e.size == Size::large) continue;
    list.push_back(grad_case(e, "_none", Activation::none));
    for (const auto& [name, activation] : kActivations)
      list.push_back(grad_case(e, "_" + std::string(name), activation));
  }
  for (const auto& [name, activation] : kActivations)
    list.push_back({"edges_" + std::string(name), Size::tiny, [kind = activation] {
                      Problem p;
                      const mk_tensor y = edge_values(p);
                      const bool bounded =
                          kind == Activation::tanh || kind == Activation::sigmoid || kind == Activation::hard_sigmoid;
                      if (bounded) p.change(y, [](float v) { return std::tanh(v); });
                      const mk_tensor grad = p.random(y.rows, y.columns);
                      p.op = ops::act_grad(grad, y, kind, p.unwritten(y.rows, y.columns), 0.0625);
                      return p;
                    }});
  return list;
}

// The scale is |grad|; none and relu have a tolerance of 0.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor& grad = p.op.inputs[0];
  std::vector<double> result;
  for (int64_t r = 0; r < grad.rows; ++r)
    for (int64_t c = 0; c < grad.columns; ++c) result.push_back(std::fabs(p.at(grad, r, c)) + kAnyZero);
  return result;
}

const AddCases kAdded{{MK_OP_ACT_GRAD, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
