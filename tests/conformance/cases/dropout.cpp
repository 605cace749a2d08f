#include <cmath>

#include "elementwise.hpp"

namespace mokume::conformance {
namespace {

Case dropout_case(const ElementwiseCase& e, const std::string& kind, double p, const ops::DropoutPlace& place) {
  return {e.name + kind, e.size, [=] {
            Problem problem;
            const mk_tensor x = e.input(problem);
            problem.op = ops::dropout(x, p, place, e.output(problem, x));
            return problem;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const ElementwiseCase& e : elementwise_cases()) list.push_back(dropout_case(e, "_half", 0.5, {7, 1, 2, 0}));
  const ElementwiseCase small{"7x13", Size::tiny, 7, 13}, normal{"100x1001", Size::normal, 100, 1001};
  for (const ElementwiseCase& e : {small, normal}) {
    list.push_back(dropout_case(e, "_none_dropped", 0, {7, 1, 2, 0}));
    list.push_back(dropout_case(e, "_nearly_all_dropped", 1 - 0x1p-40, {7, 1, 2, 0}));
    list.push_back(dropout_case(e, "_third", 1.0 / 3, {7, 1, 2, 1000}));
    list.push_back(dropout_case(e, "_wide_seed", 0.2, {0xFEDCBA9876543210U, 3, 4, 17}));
    list.push_back(
        dropout_case(e, "_last_places", 0.2, {UINT64_MAX, UINT32_MAX, UINT32_MAX, (int64_t{1} << 32) - e.rows}));
  }
  return list;
}

// The scale is the product itself; a dropped element is exactly 0.
std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>& want, Machine&) {
  std::vector<double> result = values_of(p.op.outputs[output], want);
  for (double& value : result) value = std::fabs(value);
  return result;
}

const AddCases kAdded{{MK_OP_DROPOUT, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
