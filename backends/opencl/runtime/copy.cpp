#include "runtime/copy.hpp"

#include <cstring>
#include <string>

#include "runtime/buffer.hpp"
#include "runtime/device.hpp"
#include "runtime/queue.hpp"
#include "runtime/wait.hpp"

namespace mokume::opencl {
namespace {

void check_range(const char* side, const mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  if (buffer == nullptr) throw Error(MK_INVALID_ARGUMENT, std::string("copy: there is no buffer to copy ") + side);
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    throw Error(MK_INVALID_ARGUMENT, std::string("copy: ") + std::to_string(bytes) + " bytes at " +
                                         std::to_string(offset) + " extend past the end of the buffer " + side + " (" +
                                         std::to_string(buffer->bytes) + " bytes)");
}

void check_copy(const mk_copy& copy) {
  if (copy.kind != MK_COPY_READ && copy.kind != MK_COPY_WRITE && copy.kind != MK_COPY_DEVICE)
    throw Error(MK_INVALID_ARGUMENT, "copy: unknown kind");
  if (copy.kind != MK_COPY_WRITE) check_range("from", copy.from, copy.from_offset, copy.bytes);
  if (copy.kind != MK_COPY_READ) check_range("to", copy.to, copy.to_offset, copy.bytes);
  if (copy.kind != MK_COPY_DEVICE && copy.host == nullptr && copy.bytes > 0)
    throw Error(MK_INVALID_ARGUMENT, "copy: no host memory is given");
}

}  // namespace

void enqueue_copy(mk_queue& queue, const mk_copy& copy, cl_event* done) {
  check_copy(copy);
  const bool to_host = copy.kind == MK_COPY_READ, from_host = copy.kind == MK_COPY_WRITE;
  if (!to_host) copy.to->written();
  if (copy.bytes == 0) return;
  cl_command_queue handle = queue.handle.get();
  cl_int code = CL_SUCCESS;
  // If no event is requested, copying on this thread is faster than waking another thread to do it.
  std::byte* const in_place = from_host ? copy.to->in_place : to_host ? copy.from->in_place : nullptr;
  if (in_place != nullptr && done == nullptr) {
    check(clFinish(handle), "clFinish");
    if (from_host)
      std::memcpy(in_place + copy.to_offset, copy.host, copy.bytes);
    else
      std::memcpy(copy.host, in_place + copy.from_offset, copy.bytes);
    return;
  }
  queue.reads_directly |= to_host && done != nullptr;
  if (from_host)
    code = clEnqueueWriteBuffer(handle, copy.to->memory.get(), CL_FALSE, copy.to_offset, copy.bytes, copy.host, 0,
                                nullptr, done);
  else if (to_host)
    code = clEnqueueReadBuffer(
        handle, copy.from->memory.get(), CL_FALSE, copy.from_offset, copy.bytes,
        has_patience_limit(queue) && done == nullptr ? queue.reads.add(copy.host, copy.bytes) : copy.host, 0, nullptr,
        done);
  else
    code = clEnqueueCopyBuffer(handle, copy.from->memory.get(), copy.to->memory.get(), copy.from_offset, copy.to_offset,
                               copy.bytes, 0, nullptr, done);
  if (code != CL_SUCCESS) queue.reads.abandon();
  check(code, std::string("a copy on ") + queue.device->info.name);
}

}  // namespace mokume::opencl
