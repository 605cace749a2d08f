#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct Shape {
  int64_t m, n, k;
};

struct Options {
  bool transpose_a = false, transpose_b = true;
  float alpha = 1, beta = 0;
  Layout a{}, b{}, out{};
  float low = -1, high = 1;
};

Case gemm_case(std::string name, Size size, const Shape& shape, const Options& o = {}) {
  return {std::move(name), size, [=] {
            Problem p;
            const auto [m, n, k] = shape;
            const mk_tensor a = p.random(o.transpose_a ? k : m, o.transpose_a ? m : k, o.a, o.low, o.high);
            const mk_tensor b = p.random(o.transpose_b ? n : k, o.transpose_b ? k : n, o.b, o.low, o.high);
            // With beta = 0, the old contents are NaNs that must not spread.
            const mk_tensor out = o.beta == 0 ? p.unwritten(m, n, o.out) : p.random(m, n, o.out);
            p.op = ops::rounding(ops::gemm(a, o.transpose_a, b, o.transpose_b, out, o.alpha, o.beta));
            return p;
          }};
}

// Makes a case with a bias and an activation. These cases cover every path of a device: packed, few rows (one, some,
// more than a tile, with blocks of K shared or not), short along K, and empty.
Case layer_case(std::string name, Size size, const Shape& shape, ops::Activation activation, float beta = 0) {
  return {std::move(name), size, [=] {
            Problem p;
            const auto [m, n, k] = shape;
            const mk_tensor a = p.random(m, k, {1, 2}), b = p.random(k, n, {2, 1}), bias = p.random(1, n, {3, 0});
            const mk_tensor out = beta == 0 ? p.unwritten(m, n, {2, 3}) : p.random(m, n, {2, 3});
            p.op = ops::rounding(ops::gemm_bias_act(a, b, bias, activation, out, beta));
            return p;
          }};
}

// Makes a case of the Gram matrix of one buffer's rows, so that both operands are the same view.
Case gram_case(std::string name, Size size, int64_t rows, int64_t columns) {
  return {std::move(name), size, [=] {
            Problem p;
            const mk_tensor x = p.random(rows, columns, {2, 3});
            p.op = ops::gemm(x, false, x, true, p.unwritten(rows, rows, {1, 5}));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      gemm_case("1x1x1", Size::tiny, {1, 1, 1}),
      gemm_case("3x17x31", Size::tiny, {3, 17, 31}),
      gemm_case("31x3x17", Size::tiny, {31, 3, 17}),
      gemm_case("17x31x3_strided", Size::tiny, {17, 31, 3}, {false, true, 1, 0, {3, 5}, {1, 2}, {7, 3}}),
      gemm_case("5x10x300_in_registers", Size::tiny, {5, 10, 300}, {false, false, 1, 0.5F, {1, 2}, {2, 0}, {0, 3}}),
      gemm_case("15x10x40_in_registers", Size::tiny, {15, 10, 40}, {false, false}),
      gemm_case("4x3x17_in_registers", Size::tiny, {4, 3, 17}, {false, false}),
      gemm_case("4x3x4_in_registers", Size::tiny, {4, 3, 4}, {false, false}),
      gemm_case("alpha_beta", Size::tiny, {17, 9, 12}, {false, false, -1.5F, 0.25F, {}, {1, 1}, {2, 2}}),
      gemm_case("alpha_zero", Size::tiny, {5, 6, 7}, {false, true, 0, 0.5F}),
      gemm_case("add_to_output", Size::tiny, {6, 5, 7}, {false, true, 1, 1}),
      gemm_case("no_rows", Size::tiny, {0, 5, 3}),
      gemm_case("no_columns", Size::tiny, {5, 0, 3}, {false, true, 1, 0, {}, {}, {0, 4}}),
      gemm_case("no_terms", Size::tiny, {3, 17, 0}, {false, false, 1, 0, {0, 2}, {}, {1, 1}}),
      gemm_case("no_terms_scaled", Size::tiny, {3, 17, 0}, {false, true, 1, -2, {0, 2}, {0, 2}, {1, 1}}),
      gemm_case("large_values", Size::tiny, {7, 5, 33}, {false, true, 1, 0, {}, {}, {}, 1e17F, 1e18F}),
      gram_case("gram_19x23", Size::tiny, 19, 23),
      // This case is just too large for one work-item, so the tiny cases also cover the other CPU kernels.
      gemm_case("35x33x37_packed", Size::tiny, {35, 33, 37}, {false, true, 1, 0, {1, 2}, {2, 1}, {3, 2}}),
      gemm_case("60x3x260_along_k", Size::tiny, {60, 3, 260}),
      gemm_case("300x4x30_columns", Size::tiny, {300, 4, 30}, {true, false, 1, 0, {1, 2}, {2, 1}, {3, 2}}),
      gemm_case("45x4x260_columns", Size::tiny, {45, 4, 260}, {true, false, 2, 0.5F}),
      gemm_case("1x300x65", Size::normal, {1, 300, 65}),
      gemm_case("300x1x65", Size::normal, {300, 1, 65}),
      gemm_case("129x129x129", Size::normal, {129, 129, 129}),
      gemm_case("128x192x64", Size::normal, {128, 192, 64}),
      gemm_case("132x68x520_aligned", Size::normal, {132, 68, 520}, {true, false, -1, 0.5F, {4, 4}, {8, 8}, {12, 4}}),
      gemm_case("1000x10x37", Size::normal, {1000, 10, 37}, {false, true, 1, 0, {0, 1}, {}, {3, 0}}),
      gemm_case("10x1x1300", Size::normal, {10, 1, 1300}, {false, false, 2, 0.5F}),
      gemm_case("3x10x1301", Size::normal, {3, 10, 1301}, {false, true, 1, 0, {1, 2}, {2, 1}, {3, 2}}),
      gemm_case("700x1x10_transposed", Size::normal, {700, 1, 10}, {true, false, 2, 0.5F}),
      gemm_case("100x550x1300_transposed", Size::normal, {100, 550, 1300}, {true, false, 1, 1, {1, 0}, {0, 3}, {2, 1}}),
      gemm_case("257x513x70", Size::normal, {257, 513, 70}, {false, true, 1, 0, {1, 1}, {2, 0}, {3, 2}}),
      gemm_case("33x65x5000_one_sign", Size::normal, {33, 65, 5000}, {false, true, 1, 0, {}, {}, {}, 0, 1}),
      gemm_case("7x203x4321_long_rows", Size::normal, {7, 203, 4321}, {false, false, 1, 0, {1, 2}, {2, 1}, {3, 2}}),
      gemm_case("1x300x4200_long_rows", Size::normal, {1, 300, 4200}, {false, false, -2, 0.5F}),
      gram_case("gram_300x784", Size::normal, 300, 784),
      gemm_case("large_4099x4101x21", Size::large, {4099, 4101, 21}),
      gemm_case("large_512x512x32800_in_passes", Size::large, {512, 512, 32800}, {true, false, 2, 0.5F}),
      gemm_case("large_16x1003x20001_long_rows", Size::large, {16, 1003, 20001}, {false, false, 1, 0.5F}),
      gemm_case("large_inputs_600000x5x30", Size::large, {600000, 5, 30}),
  };
  constexpr auto kRelu = ops::Activation::relu, kNone = ops::Activation::none;
  list.insert(list.end(), {layer_case("layer_5x7x9", Size::tiny, {5, 7, 9}, kRelu),
                           layer_case("layer_1x40x9", Size::tiny, {1, 40, 9}, kRelu),
                           layer_case("layer_3x33x300_added", Size::tiny, {3, 33, 300}, kRelu, 1),
                           layer_case("layer_6x36x260", Size::tiny, {6, 36, 260}, kNone),
                           layer_case("layer_35x33x37", Size::tiny, {35, 33, 37}, kRelu),
                           layer_case("layer_4x5x0", Size::tiny, {4, 5, 0}, kRelu),
                           layer_case("layer_1x128x3000", Size::normal, {1, 128, 3000}, kRelu),
                           layer_case("layer_10x227x1300", Size::normal, {10, 227, 1300}, kRelu),
                           layer_case("layer_10x700x1_added", Size::normal, {10, 700, 1}, kRelu, 0.5F),
                           layer_case("layer_10x1x1300", Size::normal, {10, 1, 1300}, kRelu),
                           layer_case("layer_33x2500x700_added", Size::normal, {33, 2500, 700}, kRelu, 1),
                           layer_case("layer_130x140x600", Size::normal, {130, 140, 600}, kRelu),
                           layer_case("layer_200x10x128", Size::normal, {200, 10, 128}, kNone)});
  // One row may have any stride; the bias still goes along its columns.
  list.push_back({"layer_1x40x9_transposed_stride_1", Size::tiny, [] {
                    Problem p;
                    const mk_tensor a = p.random(1, 9), b = p.random(40, 9), bias = p.random(1, 40);
                    mk_tensor out = p.unwritten(1, 40);
                    out.row_stride = 1;
                    p.op = ops::gemm(a, false, b, true, out);
                    p.op.inputs[p.op.n_inputs++] = bias;
                    return p;
                  }});
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const std::string name = std::string(ta ? "t" : "n") + (tb ? "t" : "n");
      list.push_back(gemm_case(name + "_13x11x19", Size::tiny, {13, 11, 19}, {ta, tb, 2, 1, {1, 3}, {2, 1}, {3, 2}}));
      list.push_back(gemm_case(name + "_65x130x97", Size::normal, {65, 130, 97}, {ta, tb, 1, 0, {}, {}, {}}));
      list.push_back(gemm_case(name + "_270x140x33_strided", Size::normal, {270, 140, 33},
                               {ta, tb, 1, -1, {1, 3}, {2, 1}, {3, 2}}));
    }
  return list;
}

// The scale is |alpha| (|a| |b|) + |beta out|: the oracle runs the same op on absolute values.
std::vector<double> scale(const Problem& problem, uint32_t output, const std::vector<Words>& want, Machine& machine) {
  Problem positive = problem;
  positive.op.gemm.alpha = std::fabs(problem.op.gemm.alpha);
  positive.op.gemm.beta = std::fabs(problem.op.gemm.beta);
  return sum_of_magnitudes(positive, output, want, machine);
}

const AddCases kAdded{{MK_OP_GEMM, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
