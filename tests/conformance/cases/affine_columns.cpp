#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

Case affine_case(const ElementwiseCase& e, const std::string& kind, bool shifted) {
  return {e.name + kind, e.size, [=] {
            Problem p;
            const mk_tensor x = e.input(p);
            const mk_tensor scale = p.random(1, e.columns, {e.in.offset + 1, 0}, -3, 3);
            const mk_tensor shift = shifted ? p.random(1, e.columns, {e.out.offset, 0}) : mk_tensor{};
            p.op = ops::affine_columns(x, scale, shift, e.output(p, x));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) {
    list.push_back(affine_case(e, "_shift", true));
    if (e.size != Size::large) list.push_back(affine_case(e, "_scale_only", false));
  }
  return list;
}

// The scale is (|x| + |shift|) * |scale|.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_op& op = p.op;
  const mk_tensor& x = op.inputs[0];
  std::vector<double> result;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const double shift = op.n_inputs == 3 ? std::fabs(p.at(op.inputs[2], 0, c)) : 0;
      result.push_back((std::fabs(p.at(x, r, c)) + shift) * std::fabs(p.at(op.inputs[1], 0, c)));
    }
  return result;
}

const AddCases kAdded{{MK_OP_AFFINE_COLUMNS, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
