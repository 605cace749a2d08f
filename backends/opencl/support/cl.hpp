// Wraps OpenCL for C++: owners, error texts, and info queries.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <memory>
#include <string>
#include <type_traits>

#include "sdk/error.hpp"

namespace mokume::opencl {

// Returns the constant's name, e.g. "CL_OUT_OF_RESOURCES".
std::string error_name(cl_int code);

// Throws MK_OUT_OF_MEMORY if memory ran out, and MK_DEVICE_ERROR for other errors. `what` describes the call.
void check(cl_int code, const std::string& what);

template <class T, cl_int (*Release)(T)>
struct Releaser {
  using pointer = T;
  void operator()(T handle) const { Release(handle); }
};

using Context = std::unique_ptr<std::remove_pointer_t<cl_context>, Releaser<cl_context, clReleaseContext>>;
using CommandQueue =
    std::unique_ptr<std::remove_pointer_t<cl_command_queue>, Releaser<cl_command_queue, clReleaseCommandQueue>>;
using Memory = std::unique_ptr<std::remove_pointer_t<cl_mem>, Releaser<cl_mem, clReleaseMemObject>>;
using Program = std::unique_ptr<std::remove_pointer_t<cl_program>, Releaser<cl_program, clReleaseProgram>>;
using Kernel = std::unique_ptr<std::remove_pointer_t<cl_kernel>, Releaser<cl_kernel, clReleaseKernel>>;
using EventHandle = std::unique_ptr<std::remove_pointer_t<cl_event>, Releaser<cl_event, clReleaseEvent>>;

// Both functions return trimmed text without control characters, or "" if the driver does not support the query.
std::string platform_text(cl_platform_id platform, cl_platform_info what);
std::string device_text(cl_device_id device, cl_device_info what);

// Returns a fixed-size value, or `fallback` if the driver does not support the query.
template <class T>
T device_value(cl_device_id device, cl_device_info what, T fallback = {}) {
  T value{};
  return clGetDeviceInfo(device, what, sizeof(value), &value, nullptr) == CL_SUCCESS ? value : fallback;
}

// Returns the compiler's messages about a program, or "".
std::string build_log(cl_program program, cl_device_id device);

// Returns at most four lines and 400 characters, which fit into an error message.
std::string first_lines(const std::string& log);

}  // namespace mokume::opencl
