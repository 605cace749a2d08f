// Lists the activations other than relu, and values for which they are hard to compute.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

inline constexpr std::pair<const char*, ops::Activation> kActivations[] = {
    {"leaky_relu", ops::Activation::leaky_relu},
    {"gelu", ops::Activation::gelu},
    {"gelu_tanh", ops::Activation::gelu_tanh},
    {"silu", ops::Activation::silu},
    {"tanh", ops::Activation::tanh},
    {"sigmoid", ops::Activation::sigmoid},
    {"hard_sigmoid", ops::Activation::hard_sigmoid},
    {"hard_swish", ops::Activation::hard_swish},
};

// Makes a row of arguments: zeros, infinities, a NaN, the ends of the intervals of polynomials, and values beyond exp.
inline mk_tensor edge_values(Problem& p) {
  std::vector<float> values = {0, std::numeric_limits<float>::quiet_NaN()};
  for (const float v : {0.0F,
                        1e-30F,
                        1e-6F,
                        0.01F,
                        0.55F,
                        0.56F,
                        1.0F,
                        1.01F,
                        1.41421356F,
                        1.4143F,
                        2.5F,
                        3.0F,
                        3.99F,
                        4.0F,
                        5.0F,
                        5.6568542F,
                        8.0F,
                        9.99F,
                        17.0F,
                        40.0F,
                        87.0F,
                        89.0F,
                        104.0F,
                        1e4F,
                        1e15F,
                        2e19F,
                        1e30F,
                        std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::infinity()})
    values.insert(values.end(), {v, -v});
  const auto n = static_cast<int64_t>(values.size());
  return p.floats(1, n, {1, 0}, [values](int64_t, int64_t c) { return values[static_cast<size_t>(c)]; });
}

}  // namespace mokume::conformance
