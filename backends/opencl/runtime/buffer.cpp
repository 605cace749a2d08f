#include "runtime/buffer.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "platforms/describe.hpp"
#include "runtime/device.hpp"

namespace mokume::opencl {
namespace {

// Holds the host memory of a CPU device's buffer until the driver has released the buffer.
struct HostMemory {
  sdk::Host host;
  void* memory;
};

void CL_CALLBACK free_host_memory(cl_mem, void* context) {
  const std::unique_ptr<HostMemory> owner(static_cast<HostMemory*>(context));
  owner->host.table()->release(owner->host.table()->self, owner->memory);
}

bool is_real_cpu(const mk_device& device) {
  return device.info.kind == MK_DEVICE_CPU && (device.info.flags & (MK_DEVICE_SOFTWARE | MK_DEVICE_INSTRUMENTED)) == 0;
}

// Returns nullptr to let the driver allocate. On a real CPU, a large buffer uses the host's own memory, which requests
// huge pages. The driver's memory does not, and reading rows in random order then takes three times as long. If the
// driver works in place, all buffers use the host's memory (see enqueue_copy()).
void* host_memory(const mk_device& device, uint64_t bytes) {
  constexpr uint64_t kLarge = uint64_t{2} << 20;
  if (!works_in_place(device) && !(is_real_cpu(device) && bytes >= kLarge)) return nullptr;
  return device.host.table()->allocate(device.host.table()->self, bytes);
}

}  // namespace

// PoCL's CPU devices, whose names start with the driver's, work in the given memory. PoCL's remote devices do not.
bool works_in_place(const mk_device& device) {
  const std::string_view name = device.info.name;
  const bool local = name.starts_with("pthread") || name.starts_with("cpu") || name.starts_with("basic");
  return local && is_pocl(device.info) && is_real_cpu(device);
}

mk_buffer create_buffer(mk_device& device, uint64_t bytes) {
  if (bytes == 0) throw Error(MK_INVALID_ARGUMENT, "a buffer of 0 bytes");
  if (bytes > device.info.max_buffer_bytes)
    throw Error(MK_OUT_OF_MEMORY,
                std::string(device.info.name) + " holds at most " + size_text(device.info.max_buffer_bytes) +
                    " in one buffer, but the request is for " + size_text(bytes) + ": split it into row panels");
  cl_int code = CL_SUCCESS;
  mk_buffer buffer;
  buffer.bytes = bytes;
  buffer.written();
  auto owner = std::make_unique<HostMemory>(HostMemory{device.host, nullptr});
  if (void* const memory = owner->memory = host_memory(device, bytes)) {
    buffer.memory.reset(
        clCreateBuffer(device.context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code));
    if (code == CL_SUCCESS) code = clSetMemObjectDestructorCallback(buffer.memory.get(), free_host_memory, owner.get());
    if (code == CL_SUCCESS) {
      static_cast<void>(owner.release());  // the callback owns it now
      if (works_in_place(device)) buffer.in_place = static_cast<std::byte*>(memory);
      return buffer;
    }
    buffer.memory.reset();
    free_host_memory(nullptr, owner.release());
  }
  buffer.memory.reset(clCreateBuffer(device.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  if (code == CL_OUT_OF_RESOURCES) code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  check(code, "a buffer of " + size_text(bytes) + " on " + device.info.name);
  return buffer;
}

}  // namespace mokume::opencl

void mk_buffer::written() {
  static std::atomic<uint64_t> last{0};
  version = ++last;
}
