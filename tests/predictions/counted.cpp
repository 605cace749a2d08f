#include "predictions/counted.hpp"

#include <CL/cl.h>
#include <dlfcn.h>

#include <utility>

namespace mokume::test {
namespace {

struct Counts {
  Commands commands;
  bool pending = false;  // whether a command was sent since the last wait
};

Counts& counts() {
  static Counts all;
  return all;
}

template <class Function>
Function* loaders(const char* name) {
  static void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(loader, name));
}

void copied() {
  ++counts().commands.copies;
  counts().pending = true;
}

void waited() {
  if (std::exchange(counts().pending, false)) ++counts().commands.waits;
}

}  // namespace

Commands take_commands() { return std::exchange(counts().commands, {}); }

}  // namespace mokume::test

using namespace mokume::test;

#define COUNTED extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL

// Each of these functions has the name of the loader's, which it calls.
COUNTED clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                               const size_t* global, const size_t* local, cl_uint n, const cl_event* before,
                               cl_event* event) {
  ++counts().commands.launches;
  counts().pending = true;
  return loaders<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(queue, kernel, dimensions, offset, global,
                                                                             local, n, before, event);
}

COUNTED clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size,
                             const void* from, cl_uint n, const cl_event* before, cl_event* event) {
  copied();
  const cl_int code = loaders<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer")(queue, buffer, blocks, offset,
                                                                                      size, from, n, before, event);
  if (blocks != CL_FALSE) waited();
  return code;
}

COUNTED clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size, void* to,
                            cl_uint n, const cl_event* before, cl_event* event) {
  copied();
  const cl_int code = loaders<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(queue, buffer, blocks, offset, size,
                                                                                    to, n, before, event);
  if (blocks != CL_FALSE) waited();
  return code;
}

COUNTED clFinish(cl_command_queue queue) {
  waited();
  return loaders<decltype(clFinish)>("clFinish")(queue);
}

COUNTED clWaitForEvents(cl_uint n, const cl_event* events) {
  waited();
  return loaders<decltype(clWaitForEvents)>("clWaitForEvents")(n, events);
}
