// Answers queries of the program like the card.
#pragma once

#include "card.hpp"

namespace mokume::pose {

// Holds the answer to clGetDeviceInfo or clGetPlatformInfo in bytes; empty if the driver's own answer applies.
using Answer = std::vector<unsigned char>;

Answer platform_answer(const Card& card, cl_platform_info what);

// `real_memory` and `real_buffer` are the bytes of the real device, which limit the card's answers.
Answer device_answer(const Card& card, cl_device_info what, cl_ulong real_memory, cl_ulong real_buffer);

// Writes an answer to `value`, and returns a code, in OpenCL's way.
cl_int give(const Answer& answer, size_t size, void* value, size_t* size_ret);

}  // namespace mokume::pose
