// Implements queues, events, and buffers with their copies. A queue is a stream; an event is a mark after its command.
#include <algorithm>

#include "objects.hpp"

namespace mokume::cuda {

Mark::Mark(cl_command_queue queue) : device(queue->device) {
  const unsigned flags = kEventBlockingSync | (queue->profiling ? 0 : kEventDisableTiming);
  check("cuEventCreate", driver().cuEventCreate(&event, flags));
  check("cuEventRecord", driver().cuEventRecord(event, queue->stream));
}

Mark::~Mark() {
  device->use();
  driver().cuEventDestroy_v2(event);
}

cl_int wait_in(CUstream stream, cl_uint count, const cl_event* events) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count && code == CL_SUCCESS; ++i)
    code = check("cuStreamWaitEvent", driver().cuStreamWaitEvent(stream, events[i]->end->event, 0));
  return code;
}

namespace {

constexpr auto kNothing = [](CUstream) { return CL_SUCCESS; };

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device, cl_command_queue_properties what,
                                          cl_int* error) {
  auto queue = std::make_unique<_cl_command_queue>(context, (what & CL_QUEUE_PROFILING_ENABLE) != 0);
  if ((what & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) return made(queue, CL_INVALID_QUEUE_PROPERTIES, error);
  device->use();
  return made(queue, check("cuStreamCreate", driver().cuStreamCreate(&queue->stream, kStreamNonBlocking)), error);
}

cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info what, size_t size, void* value,
                                  size_t* size_ret) {
  return answer(what, size, value, size_ret, CL_QUEUE_CONTEXT, queue->context, CL_QUEUE_DEVICE, queue->device);
}

cl_int CL_API_CALL flush(cl_command_queue) { return CL_SUCCESS; }  // the driver starts commands at once

cl_int CL_API_CALL finish(cl_command_queue queue) {
  queue->device->use();
  return check("cuStreamSynchronize", driver().cuStreamSynchronize(queue->stream));
}

cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint n_events, const cl_event* events, cl_event* event) {
  return command(queue, CL_FALSE, n_events, events, event, kNothing);
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  event->end->device->use();
  const CUresult result = driver().cuEventQuery(event->end->event);
  return answer(what, size, value, size_ret, CL_EVENT_COMMAND_EXECUTION_STATUS,
                result == kNotReady ? CL_RUNNING : check("cuEventQuery", result), CL_EVENT_REFERENCE_COUNT,
                event->references.load());
}

// The first requested mark is at one second, because earlier marks may be requested later.
cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info what, size_t size, void* value,
                                      size_t* size_ret) {
  if (event->start == nullptr) return CL_PROFILING_INFO_NOT_AVAILABLE;
  _cl_command_queue& queue = *event->queue;
  const auto& mark = what == CL_PROFILING_COMMAND_END ? event->end : event->start;
  mark->device->use();
  const std::lock_guard lock(queue.mutex);
  float ms = 1000;
  if (queue.last != nullptr) {
    const CUresult result = driver().cuEventElapsedTime(&ms, queue.last->event, mark->event);
    if (result == kNotReady) return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (const cl_int code = check("cuEventElapsedTime", result); code != CL_SUCCESS) return code;
  }
  queue.last_ns += 1e6 * double{ms};
  queue.last = mark;
  return answer(what, size, value, size_ret, what, static_cast<cl_ulong>(std::max(queue.last_ns, 0.0)));
}

// ---- buffers -------------------------------------------------------------------------------------------------------

cl_int allocate(_cl_mem& buffer, cl_mem_flags flags) {
  if ((flags & CL_MEM_ALLOC_HOST_PTR) == 0)
    return check("cuMemAlloc", driver().cuMemAlloc_v2(&buffer.memory, buffer.bytes));
  const CUresult result = driver().cuMemHostAlloc(&buffer.host, buffer.bytes, kHostPortable | kHostDeviceMap);
  buffer.memory = reinterpret_cast<CUdeviceptr>(buffer.host);  // the device has the same address for this memory
  return check("cuMemHostAlloc", result);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
  context->device->use();
  auto buffer = std::make_unique<_cl_mem>(context->device, bytes);
  if (bytes == 0 || bytes > context->device->card.buffer_bytes) return made(buffer, CL_INVALID_BUFFER_SIZE, error);
  // Only CPUs work in the caller's memory.
  if ((host != nullptr) != ((flags & CL_MEM_COPY_HOST_PTR) != 0)) return made(buffer, CL_INVALID_HOST_PTR, error);
  cl_int code = allocate(*buffer, flags);
  if (code == CL_SUCCESS && host != nullptr) {
    code = check("cuMemcpyHtoD", driver().cuMemcpyHtoD_v2(buffer->memory, host, bytes));
    driver().cuCtxSynchronize();  // a copy of memory that is not locked may return before it is on the device
  }
  return made(buffer, code, error);
}

cl_int CL_API_CALL get_memory_info(cl_mem buffer, cl_mem_info what, size_t size, void* value, size_t* size_ret) {
  return answer(what, size, value, size_ret, CL_MEM_SIZE, buffer->bytes);
}

bool holds(cl_mem buffer, size_t offset, size_t bytes) {
  return buffer != nullptr && offset <= buffer->bytes && bytes <= buffer->bytes - offset;
}

cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t bytes,
                                void* to, cl_uint n_events, const cl_event* events, cl_event* event) {
  if (to == nullptr || !holds(from, offset, bytes)) return CL_INVALID_VALUE;
  return command(queue, blocking, n_events, events, event, [&](CUstream stream) {
    return check("cuMemcpyDtoH", driver().cuMemcpyDtoHAsync_v2(to, from->memory + offset, bytes, stream));
  });
}

cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t bytes,
                                 const void* from, cl_uint n_events, const cl_event* events, cl_event* event) {
  if (from == nullptr || !holds(to, offset, bytes)) return CL_INVALID_VALUE;
  return command(queue, blocking, n_events, events, event, [&](CUstream stream) {
    return check("cuMemcpyHtoD", driver().cuMemcpyHtoDAsync_v2(to->memory + offset, from, bytes, stream));
  });
}

cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                size_t bytes, cl_uint n_events, const cl_event* events, cl_event* event) {
  if (!holds(from, from_offset, bytes) || !holds(to, to_offset, bytes)) return CL_INVALID_VALUE;
  return command(queue, CL_FALSE, n_events, events, event, [&](CUstream stream) {
    return check("cuMemcpyDtoD",
                 driver().cuMemcpyDtoDAsync_v2(to->memory + to_offset, from->memory + from_offset, bytes, stream));
  });
}

// The program maps only memory of the host.
void* CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags, size_t offset,
                              size_t bytes, cl_uint n_events, const cl_event* events, cl_event* event, cl_int* error) {
  cl_int code = CL_MAP_FAILURE;
  if (holds(buffer, offset, bytes) && buffer->host != nullptr)
    code = command(queue, blocking, n_events, events, event, kNothing);
  if (error != nullptr) *error = code;
  return code == CL_SUCCESS ? static_cast<unsigned char*>(buffer->host) + offset : nullptr;
}

cl_int CL_API_CALL enqueue_unmap(cl_command_queue queue, cl_mem, void*, cl_uint n_events, const cl_event* events,
                                 cl_event* event) {
  return command(queue, CL_FALSE, n_events, events, event, kNothing);
}

}  // namespace

void add_commands(cl_icd_dispatch& table) {
  table.clCreateCommandQueue = create_queue;
  table.clReleaseCommandQueue = release<cl_command_queue>;
  table.clGetCommandQueueInfo = get_queue_info;
  table.clFlush = flush;
  table.clFinish = finish;
  table.clEnqueueMarkerWithWaitList = enqueue_marker;
  table.clGetEventInfo = get_event_info;
  table.clReleaseEvent = release<cl_event>;
  table.clGetEventProfilingInfo = get_profiling_info;
  table.clCreateBuffer = create_buffer;
  table.clReleaseMemObject = release<cl_mem>;
  table.clGetMemObjectInfo = get_memory_info;
  table.clEnqueueReadBuffer = enqueue_read;
  table.clEnqueueWriteBuffer = enqueue_write;
  table.clEnqueueCopyBuffer = enqueue_copy;
  table.clEnqueueMapBuffer = enqueue_map;
  table.clEnqueueUnmapMemObject = enqueue_unmap;
}

}  // namespace mokume::cuda

using mokume::cuda::driver;

_cl_command_queue::~_cl_command_queue() {
  device->use();
  if (stream != nullptr) driver().cuStreamDestroy_v2(stream);
}

// Commands that use the buffer may still run.
_cl_mem::~_cl_mem() {
  if (memory == 0) return;
  device->use();
  driver().cuCtxSynchronize();
  host != nullptr ? driver().cuMemFreeHost(host) : driver().cuMemFree_v2(memory);
}
