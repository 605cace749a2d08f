// Opens NVIDIA's driver, libcuda.so.1. Declares its functions and numbers as cuda.h does, because few machines have the
// toolkit.
#pragma once

#include <cstddef>
#include <string>

#include "card.hpp"

namespace mokume::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;

inline constexpr CUresult kOutOfMemory = 2, kNotReady = 600;
inline constexpr unsigned kStreamNonBlocking = 1, kEventBlockingSync = 1, kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1, kHostDeviceMap = 2;
inline constexpr int kMultiprocessors = 16, kPciBus = 33, kPciSlot = 34, kPciDomain = 50, kMajor = 75, kMinor = 76;
inline constexpr int kMaxThreads = 0;  // attribute of a function

// clang-format off
#define CUDA_FUNCTIONS(F)                                                                    \
  F(cuInit, (unsigned flags))                                                                \
  F(cuDriverGetVersion, (int* version))                                                      \
  F(cuGetErrorName, (CUresult code, const char** name))                                      \
  F(cuDeviceGetCount, (int* count))                                                          \
  F(cuDeviceGet, (CUdevice* device, int ordinal))                                            \
  F(cuDeviceGetName, (char* name, int length, CUdevice device))                              \
  F(cuDeviceTotalMem_v2, (size_t* bytes, CUdevice device))                                   \
  F(cuDeviceGetAttribute, (int* value, int what, CUdevice device))                           \
  F(cuDevicePrimaryCtxRetain, (CUcontext* context, CUdevice device))                         \
  F(cuCtxSetCurrent, (CUcontext context))                                                    \
  F(cuCtxSynchronize, ())                                                                    \
  F(cuMemAlloc_v2, (CUdeviceptr* memory, size_t bytes))                                      \
  F(cuMemFree_v2, (CUdeviceptr memory))                                                      \
  F(cuMemHostAlloc, (void** memory, size_t bytes, unsigned flags))                           \
  F(cuMemFreeHost, (void* memory))                                                           \
  F(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t bytes))                       \
  F(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream)) \
  F(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))       \
  F(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  F(cuStreamCreate, (CUstream* stream, unsigned flags))                                      \
  F(cuStreamDestroy_v2, (CUstream stream))                                                   \
  F(cuStreamSynchronize, (CUstream stream))                                                  \
  F(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                     \
  F(cuEventCreate, (CUevent* event, unsigned flags))                                         \
  F(cuEventDestroy_v2, (CUevent event))                                                      \
  F(cuEventRecord, (CUevent event, CUstream stream))                                         \
  F(cuEventQuery, (CUevent event))                                                           \
  F(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))                   \
  F(cuModuleLoadData, (CUmodule* module, const void* image))                                 \
  F(cuModuleUnload, (CUmodule module))                                                       \
  F(cuModuleGetFunction, (CUfunction* function, CUmodule module, const char* name))          \
  F(cuFuncGetAttribute, (int* value, int what, CUfunction function))                         \
  F(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                     unsigned group_x, unsigned group_y, unsigned group_z,                   \
                     unsigned local_bytes, CUstream stream, void** arguments, void** extra))
// clang-format on

struct Driver {
#define CUDA_MEMBER(name, arguments) CUresult(*name) arguments = nullptr;
  CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

void load_driver();  // throws std::runtime_error with one sentence
const Driver& driver();
std::string name_of(CUresult result);

// Returns OpenCL's code for a result. Prints the name of a failure, since OpenCL has no code for most failures.
cl_int check(const char* what, CUresult result);

}  // namespace mokume::cuda
