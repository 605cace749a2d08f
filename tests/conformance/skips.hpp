// Lists every reason for which the suite leaves something out on a device.
#pragma once

#include <string>

#include "problem.hpp"

namespace mokume::conformance {

struct Skip {
  mk_device_flags flag;
  Size from;  // cases of this size and larger
  const char* reason;
};

inline constexpr Skip kSkips[] = {
    {MK_DEVICE_TEMPLATE, Size::tiny, "a template computes nothing: only its handles are tested"},
    {MK_DEVICE_SOFTWARE, Size::normal, "a GPU emulated on the CPU is a thousand times slower: tiny sizes only"},
    {MK_DEVICE_INSTRUMENTED, Size::normal, "a checking or plainly computing device is for tiny sizes only"},
};

inline constexpr char kNoKernelSource[] =
    "the backend offers no kernel_source_v1: models bring a native implementation";
inline constexpr char kUnsupportedOp[] =
    "supports() says no: the program runs this op on the host backend and counts it";
inline constexpr char kLibraryProducts[] = "oneDNN multiplies here and picks its kernel by the size";
inline constexpr char kSmallBuffers[] = "the device's largest buffer is smaller than this case needs";
inline constexpr char kSlowReopen[] = "opening twice builds every kernel twice, which takes minutes here";

// Returns the reason why a case of `size` is left out on a device, or null.
inline const char* skip_reason(const DeviceUnderTest& dut, Size size) {
  for (const Skip& skip : kSkips)
    if (dut.has(skip.flag) && size >= skip.from) return skip.reason;
  return nullptr;
}

}  // namespace mokume::conformance
