#include "runtime/device.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

#include "platforms/describe.hpp"

namespace mokume::opencl {
namespace {

std::string size_text(uint64_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

// Wakes the waiting thread. Shared with the driver's thread, which may still be in the callback when wait() returns.
struct Signal {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

void CL_CALLBACK on_complete(cl_event, cl_int, void* data) {
  const std::unique_ptr<std::shared_ptr<Signal>> signal(static_cast<std::shared_ptr<Signal>*>(data));
  const std::lock_guard lock((*signal)->mutex);
  (*signal)->done = true;
  (*signal)->changed.notify_all();
}

void sleep_until_done(cl_event event) {
  const auto signal = std::make_shared<Signal>();
  auto data = std::make_unique<std::shared_ptr<Signal>>(signal);
  check(clSetEventCallback(event, CL_COMPLETE, on_complete, data.get()), "clSetEventCallback");
  data.release();  // on_complete frees it
  std::unique_lock lock(signal->mutex);
  signal->changed.wait(lock, [&] { return signal->done; });
}

void check_outcome(const mk_queue& queue, cl_event event) {
  cl_int status = CL_COMPLETE;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr), "clGetEventInfo");
  if (status < 0) check(status, std::string("a command on ") + queue.device->info.name);
}

std::string name_of(cl_kernel kernel) {
  std::array<char, 128> name{};
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(), nullptr);
  return name.data();
}

void check_range(const char* side, const mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  if (buffer == nullptr) throw Error(MK_INVALID_ARGUMENT, std::string("copy: there is no buffer to copy ") + side);
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    throw Error(MK_INVALID_ARGUMENT, std::string("copy: ") + std::to_string(bytes) + " bytes at " +
                                         std::to_string(offset) + " reach past the end of the buffer " + side + " (" +
                                         std::to_string(buffer->bytes) + " bytes)");
}

}  // namespace

std::unique_ptr<mk_device> open_device(const sdk::Host& host, const std::string& cache_directory, ClBlast* clblast,
                                       const mk_device_info& info, cl_platform_id platform, cl_device_id id) {
  auto device = std::make_unique<mk_device>();
  device->host = host;
  device->cache_directory = cache_directory;
  device->clblast = clblast;
  device->info = info;
  device->cores = std::max<int64_t>(info.compute_units, 1);
  device->id = id;
  const cl_uint width = device_value<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4);
  device->vector_width = width >= 16 ? 16 : width >= 8 ? 8 : 4;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform),
                                              0};
  cl_int code = CL_SUCCESS;
  device->context.reset(clCreateContext(properties, 1, &id, nullptr, nullptr, &code));
  check(code, std::string("clCreateContext on ") + info.name);
  return device;
}

namespace {

// Memory of the host's allocator behind a buffer of a CPU device, freed when the driver has let go of the buffer.
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

// PoCL's CPU devices work in the memory that they are given; they are named after their driver. Its remote ones do not.
bool works_in_place(const mk_device& device) {
  const std::string_view name = device.info.name;
  const bool local = name.starts_with("pthread") || name.starts_with("cpu") || name.starts_with("basic");
  return local && is_pocl(device.info) && is_real_cpu(device);
}

// On a real CPU a large buffer lives in the host's own memory, which asks for huge pages; the driver's does not, and
// rows read in random order are then three times slower. Where the driver works in place, all do: see enqueue_copy.
// nullptr: leave it to the driver.
void* host_memory(const mk_device& device, uint64_t bytes) {
  constexpr uint64_t kLarge = uint64_t{2} << 20;
  if (!works_in_place(device) && !(is_real_cpu(device) && bytes >= kLarge)) return nullptr;
  return device.host.table()->allocate(device.host.table()->self, bytes);
}

}  // namespace

mk_buffer create_buffer(mk_device& device, uint64_t bytes) {
  if (bytes == 0) throw Error(MK_INVALID_ARGUMENT, "a buffer of 0 bytes");
  if (bytes > device.info.max_buffer_bytes)
    throw Error(MK_OUT_OF_MEMORY, std::string(device.info.name) + " holds at most " +
                                      size_text(device.info.max_buffer_bytes) + " in one buffer, asked for " +
                                      size_text(bytes) + ": split it into row panels");
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
      owner.release();  // the callback's now
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

std::unique_ptr<mk_queue> create_queue(mk_device& device, uint32_t flags) {
  if ((flags & ~MK_QUEUE_PROFILING) != 0) throw Error(MK_INVALID_ARGUMENT, "unknown queue flags");
  auto queue = std::make_unique<mk_queue>();
  queue->device = &device;
  queue->profiling = (flags & MK_QUEUE_PROFILING) != 0;
  cl_int code = CL_SUCCESS;
  queue->handle.reset(
      clCreateCommandQueue(device.context.get(), device.id, queue->profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
  check(code, std::string("clCreateCommandQueue on ") + device.info.name);
  return queue;
}

// As vendors' guides have it: memory of the driver's own choice, which it can lock, mapped once.
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

void enqueue_copy(mk_queue& queue, const mk_copy& copy, cl_event* done) {
  const bool to_host = copy.kind == MK_COPY_READ, from_host = copy.kind == MK_COPY_WRITE;
  if (!to_host && !from_host && copy.kind != MK_COPY_DEVICE) throw Error(MK_INVALID_ARGUMENT, "copy: unknown kind");
  if (!from_host) check_range("from", copy.from, copy.from_offset, copy.bytes);
  if (!to_host) check_range("to", copy.to, copy.to_offset, copy.bytes);
  if (!to_host) copy.to->written();
  if ((to_host || from_host) && copy.host == nullptr && copy.bytes > 0)
    throw Error(MK_INVALID_ARGUMENT, "copy: no host memory is given");
  if (copy.bytes == 0) return;
  cl_command_queue handle = queue.handle.get();
  cl_int code = CL_SUCCESS;
  // Where nobody waits for it elsewhere, the caller copies sooner than another thread would wake for it.
  std::byte* const in_place = from_host ? copy.to->in_place : to_host ? copy.from->in_place : nullptr;
  if (in_place != nullptr && done == nullptr) {
    check(clFinish(handle), "clFinish");
    if (from_host)
      std::memcpy(in_place + copy.to_offset, copy.host, copy.bytes);
    else
      std::memcpy(copy.host, in_place + copy.from_offset, copy.bytes);
    return;
  }
  if (from_host)
    code = clEnqueueWriteBuffer(handle, copy.to->memory.get(), CL_FALSE, copy.to_offset, copy.bytes, copy.host, 0,
                                nullptr, done);
  else if (to_host)
    code = clEnqueueReadBuffer(handle, copy.from->memory.get(), CL_FALSE, copy.from_offset, copy.bytes, copy.host, 0,
                               nullptr, done);
  else
    code = clEnqueueCopyBuffer(handle, copy.from->memory.get(), copy.to->memory.get(), copy.from_offset, copy.to_offset,
                               copy.bytes, 0, nullptr, done);
  check(code, std::string("a copy on ") + queue.device->info.name);
}

void wait(const mk_queue& queue, cl_event event) {
  if (queue.device->info.kind == MK_DEVICE_CPU) {
    const cl_int code = clWaitForEvents(1, &event);
    if (code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) check(code, "clWaitForEvents");
  } else {
    check(clFlush(queue.handle.get()), "clFlush");
    sleep_until_done(event);
  }
  check_outcome(queue, event);
}

void finish(const mk_queue& queue) {
  if (queue.device->info.kind == MK_DEVICE_CPU) return check(clFinish(queue.handle.get()), "clFinish");
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(queue.handle.get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  const EventHandle owner(event);
  wait(queue, event);
}

void Launcher::set(cl_kernel kernel, cl_uint index, const Argument& a) {
  using Type = Argument::Type;
  const auto narrow = static_cast<uint32_t>(a.bits);
  const bool is_wide = a.type == Type::memory || a.type == Type::i64, is_local = a.type == Type::local;
  const size_t bytes = is_local ? a.bits : is_wide ? sizeof(a.bits) : sizeof(narrow);
  const void* value = is_local ? nullptr : is_wide ? static_cast<const void*>(&a.bits) : &narrow;
  check(clSetKernelArg(kernel, index, bytes, value), "argument " + std::to_string(index) + " of a kernel");
}

void Launcher::run(cl_kernel kernel, const std::array<int64_t, 3>& global, const std::array<int64_t, 3>& local,
                   std::span<const Argument> arguments) {
  if (recording_ != nullptr) return recording_->add(kernel, global, local, arguments);
  for (cl_uint index = 0; const Argument& a : arguments) set(kernel, index++, a);
  enqueue(kernel, global, local.data());
}

void Launcher::enqueue(cl_kernel kernel, std::array<int64_t, 3> global, const int64_t* local) {
  std::array<size_t, 3> sizes{}, group{};
  for (size_t i = 0; i < 3; ++i) {
    group[i] = local != nullptr ? static_cast<size_t>(local[i]) : 1;
    sizes[i] = (static_cast<size_t>(global[i]) + group[i] - 1) / group[i] * group[i];
    if (sizes[i] == 0) return;
    const auto groups = static_cast<int64_t>(sizes[i] / group[i]);
    if (local != nullptr && groups > kMostGroups[i] && queue_.device->info.kind != MK_DEVICE_CPU)
      throw Error(MK_INVALID_ARGUMENT, "kernel " + name_of(kernel) + ": " + std::to_string(groups) +
                                           " work-groups in dimension " + std::to_string(i) + "; GPUs take at most " +
                                           std::to_string(kMostGroups[i]));
  }
  cl_event event = nullptr;
  const cl_int code =
      clEnqueueNDRangeKernel(queue_.handle.get(), kernel, 3, nullptr, sizes.data(),
                             local != nullptr ? group.data() : nullptr, 0, nullptr, want_event_ ? &event : nullptr);
  check(code, std::string("a kernel on ") + queue_.device->info.name);
  keep(event);
}

void Launcher::keep(cl_event event) {
  if (event != nullptr) (first_ ? last_ : first_).reset(event);
}

std::unique_ptr<mk_event> Launcher::take_event() {
  auto event = std::make_unique<mk_event>();
  event->queue = &queue_;
  if (!first_) {
    cl_event marker = nullptr;
    check(clEnqueueMarkerWithWaitList(queue_.handle.get(), 0, nullptr, &marker), "clEnqueueMarkerWithWaitList");
    first_.reset(marker);
  }
  event->first = std::move(first_);
  event->last = std::move(last_);
  return event;
}

}  // namespace mokume::opencl

cl_kernel mk_device::kernel(const mokume::opencl::BuiltIn& program, const char* name) {
  using namespace mokume::opencl;
  auto found = programs_.find(program.name);
  if (found == programs_.end()) {
    Program built = build_program(*this, program.name, program.source(), built_in_options(program));
    found = programs_.emplace(program.name, KernelSet(std::move(built))).first;
  }
  const cl_kernel kernel = found->second.get(name);
  if (origins_.count(kernel) == 0) origins_[kernel] = {program, name};
  return kernel;
}

std::string mk_device::built_in_options(const mokume::opencl::BuiltIn& program) const {
  using namespace mokume::opencl;
  const bool fma = (info.flags & MK_DEVICE_FMA) != 0;
  // -w: PoCL's compiler counts its warnings on the user's terminal.
  // Oclgrind does not know what LLVM makes of `restrict` where a function is inlined.
  const bool checked = (info.flags & MK_DEVICE_INSTRUMENTED) != 0;
  return program.options + (fma ? "" : " -DNO_FMA") + (checked ? " -Drestrict=" : "") +
         (is_pocl(info) ? " -DWHOLE_VECTORS -w" : "");
}

mk_queue::~mk_queue() {
  if (handle) clFinish(handle.get());
}

mk_host_block::~mk_host_block() {
  if (mapped == nullptr) return;
  clEnqueueUnmapMemObject(queue->handle.get(), memory.get(), mapped, 0, nullptr, nullptr);
  clFinish(queue->handle.get());
}

void mk_buffer::written() {
  static std::atomic<uint64_t> last{0};
  version = ++last;
}

cl_mem mk_queue::kept(const mk_tensor& of, const char* what, uint64_t bytes, const std::function<void(cl_mem)>& make) {
  constexpr size_t kNotKept = 4;  // the workspace for what has no place
  if (group != nullptr) {
    const cl_mem memory = workspace(kNotKept, bytes);
    make(memory);
    return memory;
  }
  std::string key = what;
  for (const int64_t part : {of.offset, of.rows, of.columns, of.row_stride}) key += ' ' + std::to_string(part);
  const uint64_t version = of.buffer->version;
  for (Derived& d : derived_) {
    if (d.version != version || d.key != key) continue;
    d.used = ++uses_;
    return d.memory.memory.get();
  }
  Derived* const place = place_for(key, bytes);
  if (place == nullptr) {
    const cl_mem memory = workspace(kNotKept, bytes);
    make(memory);
    return memory;
  }
  place->key = std::move(key);
  place->version = 0;  // of no buffer, in case it cannot be made
  place->used = ++uses_;
  make(place->memory.memory.get());
  place->version = version;
  return place->memory.memory.get();
}

// What was made of an older version under the same name; else new memory while there is room; else the least recently
// used that is large enough. The queue is in order, so what is replaced has been read by then.
mk_queue::Derived* mk_queue::place_for(const std::string& key, uint64_t bytes) {
  constexpr uint64_t kMostBytes = uint64_t{128} << 20;
  uint64_t total = bytes;
  Derived *same = nullptr, *oldest = nullptr;
  for (Derived& d : derived_) {
    total += d.memory.bytes;
    if (d.memory.bytes < bytes) continue;
    if (d.key == key && (same == nullptr || d.used < same->used)) same = &d;
    if (oldest == nullptr || d.used < oldest->used) oldest = &d;
  }
  if (same != nullptr) return same;
  if (total > kMostBytes) return oldest;
  derived_.push_back({"", 0, 0, mokume::opencl::create_buffer(*device, bytes)});
  return &derived_.back();
}

mk_buffer& mk_queue::workspace_buffer(size_t slot, uint64_t bytes) {
  mk_buffer& space = workspaces_.at(slot);
  if (group != nullptr) bytes = group->room_for(slot, bytes, space.bytes);
  if (space.bytes < bytes) {
    space = mk_buffer{};  // the driver keeps it for the commands that still use it
    space = mokume::opencl::create_buffer(*device, bytes);
  }
  return space;
}
