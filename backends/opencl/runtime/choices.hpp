// Holds the recorded choices of a device. The backend's own variants of an op are bit-identical, except those of
// `conv`, which differ within the op's tolerance. CLBlast's GEMM gives other bits.
#pragma once

#include <string>

namespace mokume::opencl {

struct Choices {
  std::string numerics;   // "fast" or "strict", as the run asks
  std::string quotients;  // "device" or "exact": what rounds quotients and square roots (common/exact.cl)
  std::string precision;  // "fp32", "tf32" or "bf16", as the run asks
  std::string units;      // the matrix units that round operands to it, or "none" (units/units.hpp)
  std::string gemm;       // "vector", "tile" or "clblast"
  std::string conv;       // "winograd", "patches", "implicit" or "winograd_everywhere"
  std::string map;        // "vector" or "scalar", for kernel_map and every op that accesses each element once
  // Decides whether one core runs all ops of a member: "always", "never", or "worthwhile" (after enough groups).
  std::string sequence;

  bool strict() const { return numerics == "strict"; }
};

}  // namespace mokume::opencl
