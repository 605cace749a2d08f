// Compares the oracle with numbers computed by hand or by the definition in double.
#include <cmath>

#include "problem.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

std::vector<float> output_of(Machine& machine, const Problem& problem) {
  const std::vector<Words> got = run(machine.oracle(), problem);
  const mk_tensor& out = problem.op.outputs[0];
  std::vector<float> values;
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c)
      values.push_back(as_float(got[Problem::memory_of(out)][Problem::place(out, r, c)]));
  return values;
}

// Makes a tensor that holds 1, 2, 3, ... row by row.
mk_tensor counting(Problem& p, int64_t rows, int64_t columns) {
  return p.floats(rows, columns, {}, [=](int64_t r, int64_t c) { return static_cast<float>(r * columns + c + 1); });
}

using Values = std::vector<float>;

void gemm_by_hand(Machine& machine) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      Problem p;
      const mk_tensor a = ta ? counting(p, 3, 2) : counting(p, 2, 3);
      const mk_tensor b = tb ? counting(p, 2, 3) : counting(p, 3, 2);
      p.op = ops::gemm(a, ta, b, tb, counting(p, 2, 2), 2, 10);
      // The product is [1 2 3; 4 5 6] or [1 3 5; 2 4 6] times [1 2; 3 4; 5 6] or [1 4; 2 5; 3 6].
      const Values product = ta ? (tb ? Values{22, 49, 28, 64} : Values{35, 44, 44, 56})
                                : (tb ? Values{14, 32, 32, 77} : Values{22, 28, 49, 64});
      Values want;
      for (size_t i = 0; i < 4; ++i) want.push_back(2 * product[i] + 10 * static_cast<float>(i + 1));
      EXPECT_EQ(output_of(machine, p), want) << ta << tb;
    }
}

// In 2^24 + 1 - 2^24, the 1 is lost in fp32 and kept in fp64.
void gemm_sums_in_double(Machine& machine) {
  Problem p;
  const float big = 0x1p24F;
  const float terms[3] = {big, 1, -big};
  const mk_tensor a = p.floats(1, 3, {}, [&](int64_t, int64_t c) { return terms[c]; });
  const mk_tensor b = p.floats(1, 3, {}, [](int64_t, int64_t) { return 1.0F; });
  p.op = ops::gemm(a, false, b, true, p.unwritten(1, 1));
  EXPECT_EQ(output_of(machine, p), Values{1});
}

void norms_by_hand(Machine& machine) {
  Problem p;
  const mk_tensor x = counting(p, 2, 3);
  p.op = ops::row_norm2(x, p.unwritten(1, 2));
  EXPECT_EQ(output_of(machine, p), (Values{14, 77}));
}

void gather_by_hand(Machine& machine) {
  Problem p;
  const mk_tensor x = counting(p, 3, 2), index = p.indices({2, 0, 2});
  p.op = ops::gather_rows(x, index, p.unwritten(3, 2));
  EXPECT_EQ(output_of(machine, p), (Values{5, 6, 1, 2, 5, 6}));
}

void fill_by_hand(Machine& machine) {
  Problem p;
  p.op = ops::fill(p.unwritten(2, 2), 2.5F);
  EXPECT_EQ(output_of(machine, p), Values(4, 2.5F));
}

void kernels_by_definition(Machine& machine) {
  const double dots[] = {0.5, -2, 3}, nx = 4, ny[] = {2, 6, 1};  // the last distance, 4 + 1 - 6, is cut at 0
  const auto values = [&](const ops::KernelFunction& f) {
    Problem p;
    const mk_tensor dot = p.floats(1, 3, {}, [&](int64_t, int64_t c) { return static_cast<float>(dots[c]); });
    const mk_tensor x = p.floats(1, 1, {}, [&](int64_t, int64_t) { return static_cast<float>(nx); });
    const mk_tensor y = p.floats(1, 3, {}, [&](int64_t, int64_t c) { return static_cast<float>(ny[c]); });
    p.op = ops::kernel_map(dot, x, y, p.unwritten(1, 3), f);
    return output_of(machine, p);
  };
  using Kind = ops::KernelKind;
  EXPECT_EQ(values({Kind::linear, 9, 9, 9}), (Values{0.5, -2, 3}));
  EXPECT_EQ(values({Kind::polynomial, 2, 1, 3}), (Values{8, -27, 343}));
  EXPECT_EQ(values({Kind::rbf, 0.25, 0, 3}),
            (Values{static_cast<float>(std::exp(-1.25)), static_cast<float>(std::exp(-3.5)), 1}));
  EXPECT_EQ(values({Kind::rbf_minus_one, 0.25, 0, 3}),
            (Values{static_cast<float>(std::exp(-1.25)) - 1, static_cast<float>(std::exp(-3.5)) - 1, 0}));
  EXPECT_EQ(values({Kind::sigmoid, 0.5, 0.25, 3}),
            (Values{static_cast<float>(std::tanh(0.5)), static_cast<float>(std::tanh(-0.75)),
                    static_cast<float>(std::tanh(1.75))}));
}

}  // namespace

void add_oracle_tests(Machine& machine) {
  const auto add = [&machine](const char* name, void (*body)(Machine&)) {
    add_test("oracle", name, [&machine, body] { body(machine); });
  };
  add("gemm_by_hand", gemm_by_hand);
  add("gemm_sums_in_double", gemm_sums_in_double);
  add("norms_by_hand", norms_by_hand);
  add("gather_by_hand", gather_by_hand);
  add("fill_by_hand", fill_by_hand);
  add("kernels_by_definition", kernels_by_definition);
}

}  // namespace mokume::conformance
