#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct Lookup {
  const char* name;
  Size size;
  int64_t rows, inputs, codes, numbers;
  bool unknown = false;  // whether some codes have no vector
  Layout x{}, table{}, vectors{};
};

const Lookup kLookups[] = {
    {"3x2_of_5x4", Size::tiny, 3, 2, 5, 4},
    {"1x1_of_1x1", Size::tiny, 1, 1, 1, 1},
    {"17x3_of_7x5_strided", Size::tiny, 17, 3, 7, 5, false, {3, 5}, {1, 2}, {2, 1}},
    {"31x2_of_3x17_with_unknown_codes", Size::tiny, 31, 2, 3, 17, true, {0, 1}, {2, 0}, {1, 4}},
    {"no_rows", Size::tiny, 0, 2, 3, 4, false, {1, 0}, {2, 0}},
    {"no_codes", Size::tiny, 3, 2, 0, 4, true},
    {"no_numbers", Size::tiny, 3, 2, 4, 0},
    {"1000x10_of_100x16", Size::normal, 1000, 10, 100, 16},
    {"129x1_of_20000x31", Size::normal, 129, 1, 20000, 31, true},
    {"large_1100000x2_of_3x8", Size::large, 1100000, 2, 3, 8},
};

// Rounds downwards, so that every code is equally likely, or leaves some numbers that are no codes.
float whole(float random) { return std::floor(random); }
float mostly_whole(float random) {
  return random < 0.2F ? -1.0F : random < 0.4F ? NAN : random < 0.6F ? 0.5F : std::floor(random);
}

mk_tensor codes_of(Problem& p, const Lookup& l) {
  const auto most = static_cast<float>(l.codes);
  const mk_tensor x = p.random(l.rows, l.inputs, l.x, 0, l.unknown ? most + 2 : most);
  p.change(x, l.unknown ? mostly_whole : whole);
  return x;
}

Case embedding_case(const Lookup& l) {
  return {l.name, l.size, [=] {
            Problem p;
            const mk_tensor x = codes_of(p, l);
            const mk_tensor table = p.random(l.inputs * l.codes, l.numbers, l.table);
            p.op = ops::embedding(x, table, p.unwritten(l.rows, l.inputs * l.numbers, l.vectors));
            return p;
          }};
}

Case grad_case(const Lookup& l) {
  return {l.name, l.size, [=] {
            Problem p;
            const mk_tensor x = codes_of(p, l);
            const mk_tensor grad = p.random(l.rows, l.inputs * l.numbers, l.vectors);
            p.op = ops::embedding_grad(x, grad, p.unwritten(l.inputs * l.codes, l.numbers, l.table));
            return p;
          }};
}

std::vector<Case> cases(Case (*of)(const Lookup&)) {
  std::vector<Case> list;
  for (const Lookup& l : kLookups) list.push_back(of(l));
  return list;
}

// The scale is the sum of |grad|.
std::vector<double> scale(const Problem& p, uint32_t, const std::vector<Words>&, Machine&) {
  const mk_tensor &x = p.op.inputs[0], &grad = p.op.inputs[1], &out = p.op.outputs[0];
  const int64_t codes = out.rows / x.columns;
  std::vector<double> result(static_cast<size_t>(out.rows * out.columns));
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      for (int64_t s = 0; s < out.columns; ++s) {
        const double code = p.at(x, r, c);
        if (!(code >= 0 && code < static_cast<double>(codes)) || code != std::floor(code)) continue;
        result[static_cast<size_t>((c * codes + static_cast<int64_t>(code)) * out.columns + s)] +=
            std::fabs(p.at(grad, r, c * out.columns + s));
      }
  return result;
}

const AddCases kAdded{{MK_OP_EMBEDDING, cases(embedding_case), nullptr}};
const AddCases kGradAdded{{MK_OP_EMBEDDING_GRAD, cases(grad_case), scale}};

}  // namespace
}  // namespace mokume::conformance
