#include "problem.hpp"

namespace mokume::conformance {
namespace {

Case norm_case(std::string name, Size size, int64_t rows, int64_t columns, const Layout& in = {}, float low = -1,
               float high = 1) {
  return {std::move(name), size, [=] {
            Problem p;
            const mk_tensor x = p.random(rows, columns, in, low, high);
            p.op = ops::row_norm2(x, p.unwritten(1, rows, {in.offset, 0}));
            return p;
          }};
}

// The scale is the sum itself.
std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>& want, Machine&) {
  return values_of(p.op.outputs[output], want);
}

const AddCases kAdded{{MK_OP_ROW_NORM2,
                       {
                           norm_case("1x1", Size::tiny, 1, 1),
                           norm_case("3x17", Size::tiny, 3, 17),
                           norm_case("17x31_strided", Size::tiny, 17, 31, {3, 6}),
                           norm_case("5x129", Size::tiny, 5, 129),
                           norm_case("no_rows", Size::tiny, 0, 9),
                           norm_case("no_columns", Size::tiny, 9, 0, {1, 2}),
                           norm_case("tiny_values", Size::tiny, 3, 33, {}, -1e-15F, 1e-15F),
                           norm_case("large_values", Size::tiny, 3, 33, {}, 1e17F, 1e18F),
                           norm_case("one_sign", Size::normal, 3, 10007, {}, 0.5F, 1),
                           norm_case("1000x10", Size::normal, 1000, 10, {1, 1}),
                           norm_case("300x784", Size::normal, 300, 784),
                           norm_case("large_4100x4100", Size::large, 4100, 4100),
                       },
                       scale}};

}  // namespace
}  // namespace mokume::conformance
