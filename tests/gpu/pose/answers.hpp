// What the card answers where a program asks about it.
#pragma once

#include "card.hpp"

namespace mokume::pose {

// The answer to clGetDeviceInfo or clGetPlatformInfo, as bytes; empty where the driver's own answer holds.
using Answer = std::vector<unsigned char>;

Answer platform_answer(const Card& card, cl_platform_info what);

// `real_memory`, `real_buffer`: bytes that the device has. The card never claims more.
Answer device_answer(const Card& card, cl_device_info what, cl_ulong real_memory, cl_ulong real_buffer);

// Hands an answer over as OpenCL does.
cl_int give(const Answer& answer, size_t size, void* value, size_t* size_ret);

}  // namespace mokume::pose
