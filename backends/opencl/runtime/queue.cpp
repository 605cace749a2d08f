#include "runtime/queue.hpp"

#include "runtime/device.hpp"

namespace mokume::opencl {

std::unique_ptr<mk_queue> create_queue(mk_device& device, bool profiling) {
  auto queue = std::make_unique<mk_queue>();
  queue->device = &device;
  queue->profiling = profiling;
  cl_int code = CL_SUCCESS;
  queue->handle.reset(
      clCreateCommandQueue(device.context.get(), device.id, profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
  check(code, std::string("clCreateCommandQueue on ") + device.info.name);
  return queue;
}

}  // namespace mokume::opencl

mk_queue::~mk_queue() {
  if (lost) {
    static_cast<void>(handle.release());
    reads.abandon();
  } else if (handle) {
    clFinish(handle.get());
  }
}

cl_mem mk_queue::kept(const mk_tensor& of, const char* what, int64_t floats, const std::function<void(cl_mem)>& make) {
  // While a group is recorded, computed data belongs to a single member and cannot be kept.
  const cl_mem kept = workspaces.members != nullptr
                          ? nullptr
                          : kept_.get(*device, of, what, static_cast<uint64_t>(floats) * sizeof(float), make);
  if (kept != nullptr) return kept;
  const cl_mem memory = workspace(mokume::opencl::kNotKept, floats);
  make(memory);
  return memory;
}
