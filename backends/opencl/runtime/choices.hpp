// The recorded choices of a device. Own variants of an op give the same bits as each other, but for those of `conv`,
// which differ within the op's tolerance; CLBlast's GEMM has bits of its own.
#pragma once

#include <string>

namespace mokume::opencl {

struct Choices {
  std::string gemm;  // "vector", "tile" or "clblast"
  std::string conv;  // "winograd" or "patches"
  std::string map;   // "vector" or "scalar": kernel_map and every op that touches each element once
  // Whether a core does all ops of a member of a group: "worthwhile", where enough of them come, "always" or "never".
  std::string sequence;
};

}  // namespace mokume::opencl
