#include "problem.hpp"

namespace mokume::conformance {
namespace {

// Returns `count` rows in a scattered order, with repetitions.
std::vector<int32_t> scattered(int64_t count, int64_t rows) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<int32_t>((i * 7919 + i / 3) % rows));
  return values;
}

Case gather_case(std::string name, Size size, int64_t count, int64_t rows, int64_t columns, const Layout& in = {},
                 const Layout& out = {}) {
  return {std::move(name), size, [=] {
            Problem p;
            const mk_tensor x = p.random(rows, columns, in);
            const mk_tensor index = p.indices(scattered(count, rows), in.offset);
            p.op = ops::gather_rows(x, index, p.unwritten(count, columns, out));
            return p;
          }};
}

const AddCases kAdded{{MK_OP_GATHER_ROWS,
                       {
                           gather_case("1_of_1x1", Size::tiny, 1, 1, 1),
                           gather_case("17_of_3x31", Size::tiny, 17, 3, 31),
                           gather_case("9_of_31x17_strided", Size::tiny, 9, 31, 17, {3, 5}, {1, 2}),
                           gather_case("none_of_3x5", Size::tiny, 0, 3, 5),
                           gather_case("3_of_5x0", Size::tiny, 3, 5, 0, {0, 4}, {0, 4}),
                           gather_case("1000_of_300x129", Size::normal, 1000, 300, 129),
                           gather_case("257_of_1000x10_strided", Size::normal, 257, 1000, 10, {11, 1}, {2, 7}),
                           gather_case("large_16500_of_900x1024", Size::large, 16500, 900, 1024),
                       },
                       nullptr}};

}  // namespace
}  // namespace mokume::conformance
