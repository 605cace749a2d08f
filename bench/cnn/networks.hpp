// Defines the published networks by name. cnn_bench measures them, and tests/gpu counts their commands.
#pragma once

#include <cstdio>
#include <string>

#include "sdk/error.hpp"
#include "settings.hpp"

namespace mokume::cnn {

// Returns the settings of "guide", "lightning", or "N,KERNEL,HIDDEN": a convolution with N filters of KERNEL x KERNEL
// pixels and a hidden layer of HIDDEN units. If N is 0, there is no convolution. The caller sets the batch size and the
// number of epochs.
inline Settings settings_of(const std::string& name) {
  Settings s;
  const auto conv = [](int64_t out, int64_t kernel, int64_t padding) {
    return R"({"type":"conv2d","out_channels":)" + std::to_string(out) + R"(,"kernel_size":)" + std::to_string(kernel) +
           R"(,"stride":1,"padding":)" + std::to_string(padding) + R"(,"bias":true},{"type":"relu"},)";
  };
  const auto linear = [](int64_t out) {
    return R"({"type":"linear","out_features":)" + std::to_string(out) + R"(,"bias":true})";
  };
  const auto dropout = [](const char* p) { return R"({"type":"dropout","p":)" + std::string(p) + "},"; };
  const std::string flatten = R"({"type":"flatten"},)", relu = R"(,{"type":"relu"},)",
                    pool = R"({"type":"max_pool2d","kernel_size":2,"stride":2,"padding":0},)",
                    average = R"({"type":"adaptive_avg_pool2d","output_size":1},)";
  if (name == "guide") {
    s.layers = conv(32, 3, 0) + conv(64, 3, 0) + pool + dropout("0.25") + flatten + linear(128) + relu +
               dropout("0.5") + linear(10);
    s.optimizer = {ops::Optimizer::adadelta, 1.0, 0, 0.9, 0, 1e-6};
  } else if (name == "lightning") {
    s.layers = conv(64, 3, 1) + conv(64, 3, 1) + pool + conv(128, 3, 1) + conv(128, 3, 1) + average + dropout("0.5") +
               flatten + linear(10);
    s.optimizer = {ops::Optimizer::adam, 1e-3, 0, 0.9, 0.999, 1e-8};
  } else {
    long long n = 0, kernel = 0, hidden = 0;
    if (std::sscanf(name.c_str(), "%lld,%lld,%lld", &n, &kernel, &hidden) != 3)
      throw Error(MK_INVALID_ARGUMENT, "unknown network " + name);
    s.layers = (n == 0 ? "" : conv(n, kernel, 0)) + flatten + linear(hidden) + relu + linear(10);
    s.optimizer = {ops::Optimizer::sgd, 0.001, 0, 0.1, 0, 0};
  }
  s.layers = "[" + s.layers + "]";
  return s;
}

}  // namespace mokume::cnn
