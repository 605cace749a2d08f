// Defines the objects of OpenCL's handles. Their first member is the table of functions, as cl_khr_icd requires.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "answers.hpp"
#include "driver.hpp"
// card.hpp must come before this header, because card.hpp chooses the version.
#include <CL/cl_icd.h>

namespace mokume::cuda {

cl_icd_dispatch* functions();

// Add the functions of a file to the table.
void add_commands(cl_icd_dispatch& table);
void add_programs(cl_icd_dispatch& table);

struct Object {
  cl_icd_dispatch* const table = functions();
  std::atomic<cl_uint> references{1};
};

template <class Handle>
cl_int CL_API_CALL release(Handle handle) {
  if (--handle->references == 0) delete handle;
  return CL_SUCCESS;
}

inline cl_int answer(cl_uint, size_t, void*, size_t*) { return CL_INVALID_VALUE; }

template <class T, class... Rest>
cl_int answer(cl_uint what, size_t size, void* to, size_t* size_ret, cl_uint key, const T& value, const Rest&... rest) {
  if (key != what) return answer(what, size, to, size_ret, rest...);
  const auto* begin = reinterpret_cast<const unsigned char*>(&value);
  size_t bytes = sizeof(value);
  if constexpr (std::is_same_v<T, std::string>) {
    begin = reinterpret_cast<const unsigned char*>(value.c_str());
    bytes = value.size() + 1;
  }
  return pose::give(pose::Answer(begin, begin + bytes), size, to, size_ret);
}

template <class Owner>
auto made(Owner& owner, cl_int code, cl_int* error) {
  if (error != nullptr) *error = code;
  return code == CL_SUCCESS ? owner.release() : nullptr;
}

// Marks a point in a stream.
struct Mark {
  explicit Mark(cl_command_queue queue);
  ~Mark();

  const cl_device_id device;
  CUevent event = nullptr;
};

struct Argument {
  char kind = 'v';  // 'v' for a value, 'g' for a buffer, 'l' for local memory
  size_t bytes = 0;
  std::string type;
};

struct Layout {
  std::array<size_t, 3> group{};  // required by the kernel, or zeros
  size_t local_bytes = 0;         // declared by the kernel
  std::vector<Argument> arguments;
};

}  // namespace mokume::cuda

struct _cl_device_id : mokume::cuda::Object {
  cl_platform_id platform = nullptr;
  mokume::cuda::CUdevice device = 0;
  mokume::cuda::CUcontext context = nullptr;  // created with the first context of OpenCL
  mokume::pose::Card card;                    // with the numbers of the real device

  // Every thread that calls the driver must call this first.
  void use() const { mokume::cuda::driver().cuCtxSetCurrent(context); }
};

struct _cl_platform_id : mokume::cuda::Object {
  std::string cubins;
  mokume::pose::Card card;
  std::vector<std::unique_ptr<_cl_device_id>> devices;
};

// The caller keeps the context while other objects belong to it.
struct _cl_context : mokume::cuda::Object {
  cl_device_id device = nullptr;
};

struct _cl_mem : mokume::cuda::Object {
  _cl_mem(cl_device_id on, size_t size) : device(on), bytes(size) {}
  ~_cl_mem();

  const cl_device_id device;
  const size_t bytes;
  mokume::cuda::CUdeviceptr memory = 0;
  void* host = nullptr;  // the same memory, if it is the host's
};

struct _cl_command_queue : mokume::cuda::Object {
  _cl_command_queue(cl_context in, bool times) : context(in), profiling(times) {}
  ~_cl_command_queue();

  const cl_context context;
  const cl_device_id device = context->device;
  const bool profiling;
  mokume::cuda::CUstream stream = nullptr;
  // This is the last mark whose time was requested. The driver measures short distances more exactly.
  std::mutex mutex;
  std::shared_ptr<mokume::cuda::Mark> last;
  double last_ns = 0;
};

struct _cl_event : mokume::cuda::Object {
  explicit _cl_event(cl_command_queue of) : queue(of) { ++queue->references; }
  ~_cl_event() { mokume::cuda::release(queue); }

  const cl_command_queue queue;
  std::shared_ptr<mokume::cuda::Mark> start, end;  // start is set only if the queue takes times
};

struct _cl_program : mokume::cuda::Object {
  explicit _cl_program(cl_device_id of) : device(of) {}
  ~_cl_program();

  const cl_device_id device;
  std::string source, log;
  std::map<std::string, mokume::cuda::Layout> kernels;
  mokume::cuda::CUmodule module = nullptr;
};

struct _cl_kernel : mokume::cuda::Object {
  _cl_kernel(cl_program of, const std::string& called, const mokume::cuda::Layout& with)
      : program(of), name(called), layout(with), values(with.arguments.size()) {
    ++program->references;
  }
  ~_cl_kernel() { mokume::cuda::release(program); }

  const cl_program program;
  const std::string name;
  const mokume::cuda::Layout& layout;
  mokume::cuda::CUfunction function = nullptr;
  int most_items = 0;                              // limit for a work-group, from the kernel's registers
  std::vector<std::vector<unsigned char>> values;  // in the form for the kernel; empty until they are set
  std::map<cl_uint, size_t> locals;                // bytes of local memory
};

namespace mokume::cuda {

// Makes a stream wait for events of other streams.
cl_int wait_in(CUstream stream, cl_uint count, const cl_event* events);

// Gives `run(stream)` to a queue. The caller owns the event, if it requests one.
template <class Run>
cl_int command(cl_command_queue queue, cl_bool blocking, cl_uint n_events, const cl_event* events, cl_event* event,
               const Run& run) {
  queue->device->use();
  if (const cl_int code = wait_in(queue->stream, n_events, events); code != CL_SUCCESS) return code;
  auto made = event == nullptr ? nullptr : std::make_unique<_cl_event>(queue);
  if (made != nullptr && queue->profiling) made->start = std::make_shared<Mark>(queue);
  if (const cl_int code = run(queue->stream); code != CL_SUCCESS) return code;
  if (made != nullptr) {
    made->end = std::make_shared<Mark>(queue);
    *event = made.release();
  }
  if (blocking == CL_FALSE) return CL_SUCCESS;
  return check("cuStreamSynchronize", driver().cuStreamSynchronize(queue->stream));
}

}  // namespace mokume::cuda
