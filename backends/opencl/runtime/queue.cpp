#include "runtime/queue.hpp"

#include <algorithm>

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
  mokume::opencl::MemberSpace* const space = workspaces.members;
  if (space == nullptr) {
    const cl_mem kept = kept_.get(*device, of, what, static_cast<uint64_t>(floats) * sizeof(float), make);
    if (kept != nullptr) return kept;
  } else if (space->members == 1 && std::ranges::find(space->outputs, of.buffer) == space->outputs.end()) {
    // The launches of make() would be recorded, so ops that run one by one must have kept the result before.
    space->kept_of.emplace_back(of.buffer, of.buffer->version);
    if (const cl_mem kept = kept_.find(of, what)) return kept;
    space->lacks_kept = true;
  }
  // While several members are recorded, computed data belongs to a single one and cannot be kept.
  const cl_mem memory = workspace(mokume::opencl::kNotKept, floats);
  make(memory);
  return memory;
}
