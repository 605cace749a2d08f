#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct Images {
  std::string name;
  Size size;
  int64_t count, rows;
  ops::Augment change;
  ops::AugmentPlace place{};
  Layout in{}, out{};
  bool nans = false;  // whether some channels are NaN
};

Case augment_case(const Images& i) {
  return {i.name, i.size, [i] {
            Problem p;
            std::vector<int32_t> index;
            for (int64_t r = 0; r < i.count; ++r) index.push_back(static_cast<int32_t>((r * 7919 + r / 3) % i.rows));
            const mk_tensor x = p.random(i.rows, i.change.image(), i.in), which = p.indices(index, i.in.offset);
            if (i.nans) p.change(x, with_some_nans);
            p.op = ops::augment(x, which, i.change, i.place, p.unwritten(i.count, i.change.image(), i.out));
            return p;
          }};
}

std::vector<Case> cases() {
  const ops::AugmentPlace wide{0xFEDCBA9876543210U, 4, 17}, last{UINT64_MAX, UINT32_MAX, (int64_t{1} << 32) - 9};
  const ops::Augment all{9, 8, 3, 2, 4, 0.5, 0.5, 30, 0.4, 0.3, 0.5, 0.7, 0.2};
  std::vector<Case> list;
  for (const Images& i : std::vector<Images>{
           {"unchanged", Size::tiny, 5, 3, {4, 5, 2}, {}, {1, 2}, {3, 1}},
           {"1x1x1", Size::tiny, 3, 1, {1, 1, 1, 1, 1, 0.5, 0.5, 90, 1, 1, 0, 0.5}},
           {"horizontal", Size::tiny, 9, 4, {4, 5, 2, 0, 0, 0.5}, {7, 2, 0}, {2, 1}, {0, 3}},
           {"always_both_flips", Size::tiny, 3, 4, {5, 4, 3, 0, 0, 1, 1}, wide},
           {"shift", Size::tiny, 9, 4, {6, 5, 1, 3}, {7, 2, 0}},
           {"shift_beyond_the_image", Size::tiny, 9, 4, {3, 2, 2, 9}, {7, 2, 0}},
           {"rotation", Size::tiny, 9, 4, {6, 7, 2, 0, 0, 0, 0, 45}, wide},
           {"any_rotation", Size::tiny, 9, 4, {7, 7, 1, 1, 0, 0, 0, 180}, last},
           {"brightness", Size::tiny, 9, 4, {4, 5, 1, 0, 0, 0, 0, 0, 0.5}, wide},
           {"contrast", Size::tiny, 9, 4, {4, 5, 2, 0, 0, 0, 0, 0, 0, 1}, wide},
           {"contrast_of_colours", Size::tiny, 9, 4, {4, 5, 3, 0, 0, 0, 0, 0, 0, 0.5}, wide},
           {"saturation", Size::tiny, 9, 4, {4, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0.5}, wide},
           {"hue", Size::tiny, 9, 4, {4, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5}, wide},
           {"a_little_hue", Size::tiny, 9, 4, {4, 5, 3, 0, 0, 0.5, 0, 0, 0.3, 0, 0, 0, 0.1}, last},
           {"hue_with_nans", Size::tiny, 9, 4, {4, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5}, wide, {}, {}, true},
           {"erased", Size::tiny, 9, 4, {6, 5, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0.5}, wide},
           {"erased_wholly", Size::tiny, 2, 4, {3, 3, 1, 0, 9, 0, 0, 0, 0, 0, 0, 1}, wide},
           {"all", Size::tiny, 9, 4, all, last, {3, 5}, {1, 2}},
           {"no_rows", Size::tiny, 0, 4, all, wide},
           {"32x32x3_all", Size::normal, 65, 9, {32, 32, 3, 4, 8, 0.5, 0, 15, 0.2, 0.2, 0.2, 0.5}, wide},
           {"28x28x1_shift", Size::normal, 300, 20, {28, 28, 1, 2}, wide},
           {"large_64x64x3", Size::large, 1400, 100, {64, 64, 3, 4, 0, 0.5}, wide}})
    list.push_back(augment_case(i));
  return list;
}

std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &x = p.op.inputs[0], &out = p.op.outputs[0];
  double largest = 0;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) largest = std::max(largest, std::fabs(p.at(x, r, c)));
  return std::vector<double>(static_cast<size_t>(out.rows * out.columns), 8 * largest);
}

const AddCases kAdded{{MK_OP_AUGMENT, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
