// Tests shape rules, tolerances and costs, which need no device.
#include "sdk/ops.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mokume::ops {
namespace {

using sdk::matrix;
using sdk::vector;

mk_tensor m(int64_t rows, int64_t columns) { return matrix(nullptr, rows, columns); }
mk_tensor v(int64_t size, mk_dtype dtype = MK_F32) { return vector(nullptr, size, 0, dtype); }

void expect_refused(const mk_op& op, const std::string& part, mk_status status = MK_INVALID_ARGUMENT) {
  try {
    check(op);
    ADD_FAILURE() << "accepted; expected a refusal with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Ops, TableIsInOrderAndNamed) {
  std::set<std::string> names;
  for (int32_t code = 1; code < MK_OP_COUNT_; ++code) {
    EXPECT_EQ(rule(code).code, code);
    EXPECT_TRUE(names.insert(rule(code).name).second) << rule(code).name;
    EXPECT_LE(rule(code).min_inputs, rule(code).max_inputs);
    EXPECT_LE(rule(code).max_inputs, static_cast<uint32_t>(MK_OP_MAX_INPUTS));
    EXPECT_GE(rule(code).min_outputs, 1U);
    EXPECT_LE(rule(code).max_outputs, static_cast<uint32_t>(MK_OP_MAX_OUTPUTS));
  }
}

TEST(Ops, UnknownCodesAreUnsupported) {
  for (const int32_t code : {0, -1, static_cast<int32_t>(MK_OP_COUNT_), INT32_MAX, INT32_MIN}) {
    mk_op op = fill(m(1, 1), 0);
    op.code = code;
    expect_refused(op, std::to_string(code), MK_UNSUPPORTED);
  }
}

TEST(Ops, WrongCountsAndSizesAreRefused) {
  mk_op op = gemm(m(2, 3), false, m(3, 4), false, m(2, 4));
  EXPECT_NO_THROW(check(op));
  op.n_inputs = 1;
  expect_refused(op, "gemm: wrong number of operands");
  op.n_inputs = 4;
  expect_refused(op, "wrong number of operands");
  op.n_inputs = 2;
  op.n_outputs = 2;
  expect_refused(op, "wrong number of operands");
  op.n_outputs = 1;
  op.struct_size = sizeof(mk_op) - 1;
  expect_refused(op, "too small");
}

TEST(Fill, ChecksItsOutput) {
  EXPECT_NO_THROW(check(fill(m(0, 5), 1)));
  expect_refused(fill(m(-1, 5), 1), "fill: out has a negative size");
  expect_refused(fill(v(5, MK_I32), 1), "element type");
  EXPECT_EQ(fill(m(1, 1), 2.5F).fill.value, 2.5);
  EXPECT_EQ(rule(MK_OP_FILL).tolerance(fill(m(1, 1), 0)), 0);
}

TEST(Gemm, ChecksEveryTransposition) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const mk_tensor a = ta ? m(5, 2) : m(2, 5), b = tb ? m(3, 5) : m(5, 3);
      EXPECT_NO_THROW(check(gemm(a, ta, b, tb, m(2, 3)))) << ta << tb;
      const GemmShape shape = gemm_shape(gemm(a, ta, b, tb, m(2, 3)));
      EXPECT_EQ(shape.m, 2);
      EXPECT_EQ(shape.n, 3);
      EXPECT_EQ(shape.k, 5);
      expect_refused(gemm(a, !ta, b, tb, m(2, 3)), "gemm: ");
      expect_refused(gemm(a, ta, b, !tb, m(2, 3)), "gemm: b is");
      expect_refused(gemm(a, ta, b, tb, m(3, 2)), "gemm: ");
    }
}

TEST(Gemm, ToleranceGrowsWithTheSumAndCostWithTheWork) {
  const mk_op small = gemm(m(2, 3), false, m(3, 4), false, m(2, 4));
  const mk_op deep = gemm(m(2, 30000), false, m(30000, 4), false, m(2, 4), 1, 1);
  EXPECT_GT(rule(MK_OP_GEMM).tolerance(small), 0);
  EXPECT_GT(rule(MK_OP_GEMM).tolerance(deep), rule(MK_OP_GEMM).tolerance(small));
  EXPECT_LT(rule(MK_OP_GEMM).tolerance(deep), 1e-3);
  EXPECT_EQ(rule(MK_OP_GEMM).cost(small).flops, 2 * 2 * 4 * 3);
  EXPECT_EQ(rule(MK_OP_GEMM).cost(small).bytes, 4 * (6 + 12 + 8));
  EXPECT_EQ(rule(MK_OP_GEMM).cost(deep).bytes, 4.0 * (60000 + 120000 + 16));
}

TEST(RowNorm2, ChecksShapes) {
  EXPECT_NO_THROW(check(row_norm2(m(4, 9), v(4))));
  EXPECT_NO_THROW(check(row_norm2(m(4, 0), v(4))));
  expect_refused(row_norm2(m(4, 9), v(9)), "row_norm2: out is 1x9, expected 1x4");
  expect_refused(row_norm2(m(4, 9), m(4, 1)), "row_norm2: out is 4x1");
}

TEST(GatherRows, ChecksShapes) {
  EXPECT_NO_THROW(check(gather_rows(m(4, 9), v(7, MK_I32), m(7, 9))));
  expect_refused(gather_rows(m(4, 9), v(7), m(7, 9)), "index has the wrong element type");
  expect_refused(gather_rows(m(4, 9), v(6, MK_I32), m(7, 9)), "index is 1x6");
  expect_refused(gather_rows(m(4, 9), v(7, MK_I32), m(7, 8)), "out is 7x8");
}

TEST(KernelMap, ChecksShapesAndAttributes) {
  const KernelFunction rbf, cubic{KernelKind::polynomial, 1, 0, 3};
  EXPECT_NO_THROW(check(kernel_map(m(3, 4), v(3), v(4), m(3, 4), rbf)));
  EXPECT_NO_THROW(check(kernel_map(m(3, 4), {}, {}, m(3, 4), cubic)));
  EXPECT_EQ(kernel_map(m(3, 4), v(3), v(4), m(3, 4), cubic).n_inputs, 1U) << "norms are for rbf only";
  expect_refused(kernel_map(m(3, 4), v(4), v(4), m(3, 4), rbf), "norm_x is 1x4, expected 1x3");
  expect_refused(kernel_map(m(3, 4), v(3), v(3), m(3, 4), rbf), "norm_y is 1x3, expected 1x4");
  expect_refused(kernel_map(m(3, 4), v(3), v(4), m(4, 3), rbf), "out is 4x3");
  expect_refused(kernel_map(m(3, 4), {}, {}, m(3, 4), {KernelKind::polynomial, 1, 0, -1}), "degree");
  expect_refused(kernel_map(m(3, 4), {}, {}, m(3, 4), {KernelKind::polynomial, 1, 0, 65}), "degree");
  mk_op op = kernel_map(m(3, 4), {}, {}, m(3, 4), cubic);
  op.kernel_map.kind = static_cast<KernelKind>(5);
  expect_refused(op, "unknown kernel 5");
  op.kernel_map.kind = KernelKind::rbf;
  expect_refused(op, "wrong number of inputs");
}

TEST(KernelMap, FunctionsDifferOnlyInParametersThatTheirKindUses) {
  const auto differs_in = [](KernelKind kind) {
    const KernelFunction f{kind, 0.5, 1, 3};
    std::string names;
    names += same_values(f, {kind, 0.25, 1, 3}) ? "" : "gamma ";
    names += same_values(f, {kind, 0.5, 2, 3}) ? "" : "coef0 ";
    names += same_values(f, {kind, 0.5, 1, 4}) ? "" : "degree ";
    return names;
  };
  EXPECT_EQ(differs_in(KernelKind::linear), "");
  EXPECT_EQ(differs_in(KernelKind::rbf), "gamma ");
  EXPECT_EQ(differs_in(KernelKind::rbf_minus_one), "gamma ");
  EXPECT_EQ(differs_in(KernelKind::sigmoid), "gamma coef0 ");
  EXPECT_EQ(differs_in(KernelKind::polynomial), "gamma coef0 degree ");
  EXPECT_FALSE(same_values({KernelKind::linear, 1, 0, 3}, {KernelKind::rbf, 1, 0, 3}));
}

TEST(Text, NamesTheAttributesOfEveryOp) {
  std::set<std::string> without;
  for (int32_t code = 1; code < MK_OP_COUNT_; ++code) {
    mk_op op = sdk::make_op(static_cast<mk_op_code>(code), {}, {});
    std::string expected = std::string(rule(code).name) + " ->";
    if (rule(code).attributes.empty()) without.insert(rule(code).name);
    for (size_t i = 0; i < rule(code).attributes.size(); ++i) {
      const Attribute& a = rule(code).attributes[i];
      op.attributes[i] = a.kind == Attribute::real ? std::bit_cast<int64_t>(7.5) : 7;
      expected += std::string(", ") + a.name + (a.kind == Attribute::real ? " 7.5" : " 7");
    }
    EXPECT_EQ(text(op), expected);
  }
  EXPECT_EQ(without, (std::set<std::string>{"affine_columns", "embedding", "embedding_grad", "gather_rows", "multiply",
                                            "multiply_grad_factor", "row_norm2", "softmax", "softmax_grad"}));
}

TEST(Text, HasShapesAndOnlyTheAttributesThatAreNotAsUsual) {
  EXPECT_EQ(text(gemm(m(3, 2), true, m(3, 4), false, m(2, 4), 1, 0.5F)),
            "gemm 3x2 3x4 -> 2x4, transpose_a 1, beta 0.5");
  EXPECT_EQ(text(dropout(m(1, 4), 0.25, {UINT64_MAX, 0, 0, 0}, m(1, 4))),
            "dropout 1x4 -> 1x4, p 0.25, seed 18446744073709551615");
  EXPECT_EQ(text(conv2d(m(1, 9), m(4, 2), {}, {3, 3, 1, 2, 2}, Activation::relu, m(1, 8))),
            "conv2d 1x9 4x2 -> 1x8, height 3, width 3, kernel_h 2, kernel_w 2, activation 1");
  EXPECT_EQ(text(optimizer_step(v(1), v(1), {}, {}, OptimizerSettings{}, 1)), "optimizer_step 1x1 -> 1x1");
}

}  // namespace
}  // namespace mokume::ops
