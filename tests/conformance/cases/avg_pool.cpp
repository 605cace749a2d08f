#include "averages.hpp"

namespace mokume::conformance {
namespace {

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const AverageCase& a : average_cases())
    list.push_back({a.name, a.size, [a] {
                      Problem p;
                      const mk_tensor x = p.random(a.images, a.pool.image(), a.image);
                      p.op = ops::avg_pool(x, a.pool, p.unwritten(a.images, a.pool.out_image(), a.cells));
                      return p;
                    }});
  return list;
}

const AddCases kAdded{{MK_OP_AVG_POOL, cases(), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
