// Lists shapes for ops that work element by element and may run in place.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

struct ElementwiseCase {
  std::string name;
  Size size;
  int64_t rows, columns;
  bool in_place = false;
  Layout in{}, out{};
  uint32_t nans = 0;  // every n-th element of the input is NaN; 0 stands for none

  mk_tensor input(Problem& p) const {
    const mk_tensor t = p.random(rows, columns, in);
    for (int64_t i = 0; nans != 0 && i < rows * columns; i += nans)
      p.memory[Problem::memory_of(t)][Problem::place(t, i / columns, i % columns)] = 0x7FC00000U;
    return t;
  }
  mk_tensor output(Problem& p, const mk_tensor& input) const {
    return in_place ? input : p.unwritten(rows, columns, out);
  }
};

inline std::vector<ElementwiseCase> elementwise_cases() {
  return {
      {"3x17", Size::tiny, 3, 17},
      {"1x1", Size::tiny, 1, 1},
      {"17x31_strided", Size::tiny, 17, 31, false, {3, 5}, {1, 2}},
      {"19x7_in_place", Size::tiny, 19, 7, true, {2, 3}},
      {"5x129", Size::tiny, 5, 129, false, {0, 1}, {2, 0}},
      {"4x33_nans", Size::tiny, 4, 33, false, {}, {}, 3},
      {"4x34_nans_in_place", Size::tiny, 4, 34, true, {1, 1}, {}, 3},
      {"no_rows", Size::tiny, 0, 5, false, {1, 0}, {2, 0}},
      {"no_columns", Size::tiny, 5, 0, false, {0, 2}, {0, 3}},
      {"1000x10_in_place", Size::normal, 1000, 10, true, {1, 1}},
      {"257x784", Size::normal, 257, 784},
      {"3x100003_strided", Size::normal, 3, 100003, false, {1, 5}, {2, 0}},
      {"large_4100x4100", Size::large, 4100, 4100, false, {1, 0}, {0, 3}},
  };
}

}  // namespace mokume::conformance
