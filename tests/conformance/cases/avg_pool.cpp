#include "averages.hpp"

namespace mokume::conformance {
namespace {

Case average_case(const AverageCase& a, float (*change)(float)) {
  return {a.name, a.size, [a, change] {
            Problem p;
            const mk_tensor x = p.random(a.images, a.pool.image(), a.image);
            if (change != nullptr) p.change(x, change);
            p.op = ops::avg_pool(x, a.pool, p.unwritten(a.images, a.pool.out_image(), a.cells));
            return p;
          }};
}

Case grad_case(const AverageCase& a, float (*change)(float)) {
  return {a.name, a.size, [a, change] {
            Problem p;
            const mk_tensor grad = p.random(a.images, a.pool.out_image(), a.cells);
            if (change != nullptr) p.change(grad, change);
            p.op = ops::avg_pool_grad(grad, a.pool, p.unwritten(a.images, a.pool.image(), a.image));
            return p;
          }};
}

std::vector<Case> cases(decltype(average_case)* make) {
  std::vector<Case> list;
  for (const AverageCase& a : average_cases()) list.push_back(make(a, nullptr));
  for (const AverageCase& a : special_average_cases("nans")) list.push_back(make(a, with_some_nans));
  for (const AverageCase& a : special_average_cases("infinities")) list.push_back(make(a, with_some_infinities));
  return list;
}

const AddCases kAdded{{MK_OP_AVG_POOL, cases(average_case), sum_of_magnitudes}};
const AddCases kGradAdded{{MK_OP_AVG_POOL_GRAD, cases(grad_case), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
