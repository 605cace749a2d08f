// The published networks by name: what cnn_bench measures and tests/gpu counts.
#pragma once

#include <cstdio>
#include <string>

#include "sdk/error.hpp"
#include "settings.hpp"

namespace mokume::cnn {

// "guide", "lightning", or "N,KERNEL,HIDDEN" of the study; "0,0,HIDDEN" leaves its convolution out. The caller sets the
// batch and the number of epochs.
inline Settings settings_of(const std::string& name) {
  Settings s;
  const auto conv = [](int64_t out, int64_t padding) { return Conv2d{out, 3, 1, padding, true}; };
  if (name == "guide") {
    s.layers = {conv(32, 0),       Relu{}, conv(64, 0),  Relu{},          MaxPool2d{2, 2, 0}, Dropout{0.25}, Flatten{},
                Linear{128, true}, Relu{}, Dropout{0.5}, Linear{10, true}};
    s.optimizer = {ops::Optimizer::adadelta, 1.0, 0, 0.9, 0, 1e-6};
  } else if (name == "lightning") {
    s.layers = {conv(64, 1),  Relu{}, conv(64, 1),          Relu{},       MaxPool2d{2, 2, 0}, conv(128, 1),    Relu{},
                conv(128, 1), Relu{}, AdaptiveAvgPool2d{1}, Dropout{0.5}, Flatten{},          Linear{10, true}};
    s.optimizer = {ops::Optimizer::adam, 1e-3, 0, 0.9, 0.999, 1e-8};
  } else {
    long long n = 0, kernel = 0, hidden = 0;
    if (std::sscanf(name.c_str(), "%lld,%lld,%lld", &n, &kernel, &hidden) != 3)
      throw Error(MK_INVALID_ARGUMENT, "unknown network " + name);
    s.layers = {Conv2d{n, kernel, 1, 0, true}, Relu{}, Flatten{}, Linear{hidden, true}, Relu{}, Linear{10, true}};
    if (n == 0) s.layers.erase(s.layers.begin(), s.layers.begin() + 2);
    s.optimizer = {ops::Optimizer::sgd, 0.001, 0, 0.1, 0, 0};
  }
  return s;
}

}  // namespace mokume::cnn
