#include "problem.hpp"

namespace mokume::conformance {
namespace {

Case fill_case(std::string name, Size size, int64_t rows, int64_t columns, const Layout& layout, float value) {
  return {std::move(name), size, [=] {
            Problem p;
            p.op = ops::fill(p.unwritten(rows, columns, layout), value);
            return p;
          }};
}

const AddCases kAdded{{MK_OP_FILL,
                       {
                           fill_case("1x1", Size::tiny, 1, 1, {}, 1.5F),
                           fill_case("3x17_strided", Size::tiny, 3, 17, {5, 4}, -2.25F),
                           fill_case("31x129", Size::tiny, 31, 129, {}, 1e-30F),
                           fill_case("no_rows", Size::tiny, 0, 17, {3, 0}, 1),
                           fill_case("no_columns", Size::tiny, 17, 0, {0, 9}, 1),
                           fill_case("minus_zero", Size::tiny, 2, 5, {1, 1}, -0.0F),
                           fill_case("infinity", Size::tiny, 1, 33, {}, as_float(0x7F800000U)),
                           fill_case("1000x10_strided", Size::normal, 1000, 10, {7, 3}, 3),
                           fill_case("1x100003", Size::normal, 1, 100003, {}, 0),
                           fill_case("large_4100x4100", Size::large, 4100, 4100, {3, 1}, 7),
                       },
                       nullptr}};

}  // namespace
}  // namespace mokume::conformance
