#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

Case softmax_case(const ElementwiseCase& e, const std::string& kind, float range, float (*change)(float)) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor x = p.random(e.rows, e.columns, e.in, -range, range);
            if (change != nullptr) p.change(x, change);
            p.op = ops::softmax(x, e.output(p, x));
            return p;
          }};
}

// Returns -inf for some numbers, which gives them a probability of 0.
float with_some_low(float random) { return random < -0.6F ? -HUGE_VALF : random; }

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(softmax_case(e, "", 3, nullptr));
    if (e.size != Size::tiny) continue;
    list.push_back(softmax_case(e, "_wide", 200, nullptr));
    list.push_back(softmax_case(e, "_with_nans", 1, with_some_nans));
    list.push_back(softmax_case(e, "_with_infinities", 1, with_some_infinities));
    list.push_back(softmax_case(e, "_with_low", 1, with_some_low));
  }
  return list;
}

// Probabilities have an absolute tolerance.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  return std::vector<double>(static_cast<size_t>(p.op.inputs[0].rows * p.op.inputs[0].columns), 1.0);
}

const AddCases kAdded{{MK_OP_SOFTMAX, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
