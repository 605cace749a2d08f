#include "runtime/kernel_source.hpp"

#include "runtime/buffer.hpp"
#include "runtime/device.hpp"
#include "runtime/launcher.hpp"

struct mk_program {
  mk_device* device;
  mokume::opencl::KernelSet kernels;
};

namespace mokume::opencl {
namespace {

int32_t build(mk_device* device, const char* name, const char* source, const char* options, mk_program** program,
              mk_error* error) {
  return sdk::guard(error, [&] {
    if (device == nullptr || source == nullptr || program == nullptr)
      throw Error(MK_INVALID_ARGUMENT, "kernel_source: build needs a device, a source and a place for the result");
    Program built =
        build_program(*device, name == nullptr ? "a program" : name, source, options == nullptr ? "" : options);
    *program = new mk_program{device, KernelSet(std::move(built))};
  });
}

void release(mk_program* program) { delete program; }

void set_argument(cl_kernel kernel, const std::string& name, cl_uint index, const mk_argument& a) {
  const auto set = [&](size_t bytes, const void* value) {
    const cl_int code = clSetKernelArg(kernel, index, bytes, value);
    if (code == CL_SUCCESS) return;
    throw Error(MK_INVALID_ARGUMENT,
                "kernel " + name + " does not take argument " + std::to_string(index) + ": " + error_name(code));
  };
  switch (a.kind) {
    case MK_ARG_BUFFER: {
      cl_mem memory = a.buffer == nullptr ? nullptr : a.buffer->memory.get();
      if (a.buffer != nullptr) a.buffer->written();  // the kernel may write to it
      return set(sizeof(memory), &memory);
    }
    case MK_ARG_VALUE:
      return set(a.bytes, a.value);
    case MK_ARG_LOCAL:
      return set(a.bytes, nullptr);
    default:
      throw Error(MK_INVALID_ARGUMENT, "kernel " + name + ": unknown kind of argument");
  }
}

int32_t launch(mk_queue* queue, mk_program* program, const char* kernel, const mk_argument* arguments,
               uint32_t n_arguments, const uint64_t global[3], const uint64_t local[3], mk_event** event,
               mk_error* error) {
  return sdk::guard(error, [&] {
    if (queue == nullptr || program == nullptr || kernel == nullptr || global == nullptr)
      throw Error(MK_INVALID_ARGUMENT, "kernel_source: launch needs a queue, a program, a kernel and a size");
    if (program->device != queue->device)
      throw Error(MK_INVALID_ARGUMENT, std::string("kernel ") + kernel + " was built for another device");
    const cl_kernel handle = program->kernels.get(kernel);
    cl_uint wanted = 0;
    check(clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof(wanted), &wanted, nullptr), "clGetKernelInfo");
    if (wanted != n_arguments)
      throw Error(MK_INVALID_ARGUMENT, std::string("kernel ") + kernel + " takes " + std::to_string(wanted) +
                                           " arguments, not " + std::to_string(n_arguments));
    for (uint32_t i = 0; i < n_arguments; ++i) set_argument(handle, kernel, i, arguments[i]);
    std::array<int64_t, 3> size{}, group{};
    for (size_t i = 0; i < 3; ++i) {
      size[i] = static_cast<int64_t>(global[i]);
      group[i] = local == nullptr ? 1 : static_cast<int64_t>(local[i]);
      if (size[i] < 0 || group[i] < 1 || size[i] % group[i] != 0)
        throw Error(MK_INVALID_ARGUMENT, std::string("kernel ") + kernel + ": global size " +
                                             std::to_string(global[i]) + " is not a multiple of the local size");
    }
    Launcher launcher(*queue, event != nullptr);
    launcher.enqueue(handle, size, local == nullptr ? nullptr : group.data());
    if (event != nullptr) *event = launcher.take_event().release();
  });
}

constexpr mk_kernel_source kTable = {sizeof(mk_kernel_source), 0, build, release, launch};

}  // namespace

const mk_kernel_source* kernel_source_table() { return &kTable; }

}  // namespace mokume::opencl
