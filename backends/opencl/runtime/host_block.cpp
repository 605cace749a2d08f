#include "runtime/host_block.hpp"

#include "runtime/device.hpp"
#include "runtime/queue.hpp"

namespace mokume::opencl {

// Follows the vendors' guides: the driver allocates the memory, which it can then lock, and maps it once.
std::unique_ptr<mk_host_block> create_host_block(mk_queue& queue, uint64_t bytes) {
  if (bytes == 0) throw Error(MK_INVALID_ARGUMENT, "host memory of 0 bytes");
  auto block = std::make_unique<mk_host_block>();
  cl_int code = CL_SUCCESS;
  block->queue = &queue;
  block->memory.reset(
      clCreateBuffer(queue.device->context.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code));
  check(code, "host memory of " + size_text(bytes) + " on " + queue.device->info.name);
  block->mapped = clEnqueueMapBuffer(queue.handle.get(), block->memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     bytes, 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer");
  return block;
}

}  // namespace mokume::opencl

mk_host_block::~mk_host_block() {
  if (mapped == nullptr) return;
  if (queue->lost) {
    static_cast<void>(memory.release());
    return;
  }
  clEnqueueUnmapMemObject(queue->handle.get(), memory.get(), mapped, 0, nullptr, nullptr);
  clFinish(queue->handle.get());
}
