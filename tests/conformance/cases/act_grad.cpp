#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

using ops::Activation;

Case grad_case(const ElementwiseCase& e, const std::string& kind, Activation activation) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor grad = e.input(p);
            // Outputs of relu: about half are 0; smaller values and NaNs pass nothing either.
            const mk_tensor random = p.random(e.rows, e.columns, {e.out.offset + 1, e.out.padding + 1});
            for (int64_t r = 0; r < e.rows; ++r)
              for (int64_t c = 0; c < e.columns; ++c) {
                uint32_t& word = p.memory[Problem::memory_of(random)][Problem::place(random, r, c)];
                if (c % 5 == 4) continue;
                if (as_float(word) < 0) word = c % 5 == 0 ? as_word(-0.0F) : 0;
                if (c % 11 == 3) word = 0x7FC00000U;
              }
            p.op = ops::act_grad(grad, random, activation, e.output(p, grad));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(grad_case(e, "_relu", Activation::relu));
    if (e.size != Size::large) list.push_back(grad_case(e, "_none", Activation::none));
  }
  return list;
}

const AddCases kAdded{{MK_OP_ACT_GRAD, cases(), nullptr}};

}  // namespace
}  // namespace mokume::conformance
