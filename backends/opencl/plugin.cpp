// The opencl backend: every OpenCL platform of the machine behind the backend table.
#include <algorithm>

#include "gemm/clblast.hpp"
#include "runtime/kernel_source.hpp"
#include "ops.hpp"
#include "platforms/platforms.hpp"
#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"
#include "variants.hpp"

namespace mokume::opencl {
namespace {

struct Backend {
  explicit Backend(const mk_host* services) : host(services), platforms(host) {}
  sdk::Host host;
  Platforms platforms;
  ClBlast clblast;
  mk_backend table{};
};

Backend& backend(void* self) { return *static_cast<Backend*>(self); }

void need(bool condition, const char* what) {
  if (!condition) throw Error(MK_INVALID_ARGUMENT, std::string("opencl: no ") + what + " is given");
}

int32_t enumerate(void* self, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    need(count != nullptr && (infos != nullptr || capacity == 0), "place for the devices");
    const std::vector<mk_device_info>& devices = backend(self).platforms.devices();
    std::copy_n(devices.begin(), std::min<size_t>(devices.size(), capacity), infos);
    *count = static_cast<uint32_t>(devices.size());
  });
}

int32_t open(void* self, uint32_t index, const mk_choice* choices, uint32_t n_choices, mk_device** device,
             mk_error* error) {
  return sdk::guard(error, [&] {
    need(device != nullptr, "place for the device");
    Backend& b = backend(self);
    const Place place = b.platforms.place(index);
    auto opened = open_device(b.host, b.platforms.cache_directory(), &b.clblast, b.platforms.devices()[index],
                              place.platform, place.device);
    choose_variants(*opened, choices, n_choices);
    *device = opened.release();
  });
}

void close(mk_device* device) { delete device; }

int32_t choices(mk_device* device, mk_choice* out, uint32_t capacity, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    need(device != nullptr && count != nullptr && (out != nullptr || capacity == 0), "place for the choices");
    for (size_t i = 0; i < kChoiceKeys.size() && i < capacity; ++i) {
      sdk::set_text(out[i].key, kChoiceKeys[i].name);
      sdk::set_text(out[i].value, device->choices.*kChoiceKeys[i].slot);
    }
    *count = static_cast<uint32_t>(kChoiceKeys.size());
  });
}

int32_t buffer_create(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
  return sdk::guard(error, [&] {
    need(device != nullptr && buffer != nullptr, "device or place for the buffer");
    *buffer = std::make_unique<mk_buffer>(create_buffer(*device, bytes)).release();
  });
}

void buffer_destroy(mk_device*, mk_buffer* buffer) { delete buffer; }

int32_t queue_create(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error) {
  return sdk::guard(error, [&] {
    need(device != nullptr && queue != nullptr, "device or place for the queue");
    *queue = create_queue(*device, flags).release();
  });
}

void queue_destroy(mk_queue* queue) { delete queue; }

int32_t copy(mk_queue* queue, const mk_copy* copy, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    need(queue != nullptr && copy != nullptr, "queue or copy");
    Launcher launcher(*queue, event != nullptr);
    launcher.enqueue_foreign([&](cl_event* done) { enqueue_copy(*queue, *copy, done); });
    if (event != nullptr) *event = launcher.take_event().release();
  });
}

int32_t submit(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    need(queue != nullptr && op != nullptr, "queue or op");
    Launcher launcher(*queue, event != nullptr);
    opencl::submit(launcher, *op);
    if (event != nullptr) *event = launcher.take_event().release();
  });
}

int32_t supports(mk_device* device, const mk_op* op) {
  const bool valid = sdk::guard(nullptr, [&] { ops::check(*op); }) == MK_OK;
  return valid && !is_too_long(*device, *op) ? MK_SUPPORT_YES : MK_SUPPORT_NO;
}

cl_event last_of(const mk_event& event) { return event.last ? event.last.get() : event.first.get(); }

int32_t event_wait(mk_event* event, mk_error* error) {
  return sdk::guard(error, [&] {
    need(event != nullptr, "event");
    wait(*event->queue, last_of(*event));
  });
}

int32_t event_time_ns(mk_event* event, uint64_t start_end[2], mk_error* error) {
  return sdk::guard(error, [&] {
    need(event != nullptr && start_end != nullptr, "event or place for its times");
    if (!event->queue->profiling)
      throw Error(MK_INVALID_ARGUMENT, "opencl: times are kept by queues made with MK_QUEUE_PROFILING only");
    cl_ulong start = 0, end = 0;
    check(clGetEventProfilingInfo(event->first.get(), CL_PROFILING_COMMAND_START, sizeof(start), &start, nullptr),
          "clGetEventProfilingInfo");
    check(clGetEventProfilingInfo(last_of(*event), CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr),
          "clGetEventProfilingInfo");
    start_end[0] = start;
    start_end[1] = end;
  });
}

void event_destroy(mk_event* event) { delete event; }

int32_t finish(mk_queue* queue, mk_error* error) {
  return sdk::guard(error, [&] {
    need(queue != nullptr, "queue");
    opencl::finish(*queue);
  });
}

int32_t submit_group(mk_queue* queue, const mk_op* const* ops, uint32_t members, uint32_t each, mk_event** event,
                     mk_error* error) {
  return sdk::guard(error, [&] {
    need(queue != nullptr && (ops != nullptr || members == 0), "queue or ops");
    Launcher launcher(*queue, event != nullptr);
    opencl::submit_group(launcher, {ops, members}, each);
    if (event != nullptr) *event = launcher.take_event().release();
  });
}

int32_t host_memory_create(mk_queue* queue, uint64_t bytes, mk_host_block** block, void** memory, mk_error* error) {
  return sdk::guard(error, [&] {
    need(queue != nullptr && block != nullptr && memory != nullptr, "queue or places for the memory");
    auto made = create_host_block(*queue, bytes);
    *memory = made->mapped;
    *block = made.release();
  });
}

void host_memory_destroy(mk_host_block* block) { delete block; }

constexpr mk_host_memory kHostMemory = {sizeof(mk_host_memory), 0, host_memory_create, host_memory_destroy};
constexpr mk_group kGroup = {sizeof(mk_group), 0, submit_group};

const void* extension(void*, const char* name) {
  if (name == nullptr) return nullptr;
  if (std::string_view(name) == "kernel_source_v1") return kernel_source_table();
  if (std::string_view(name) == "group_v2") return &kGroup;
  if (std::string_view(name) == "host_memory_v1") return &kHostMemory;
  return nullptr;
}

void shutdown(void* self) { delete &backend(self); }

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return sdk::guard(error, [&] {
    need(host != nullptr && table != nullptr, "host or place for the table");
    auto made = std::make_unique<Backend>(host);
    made->table = {
        sizeof(mk_backend), MK_ABI_MAJOR,   MK_ABI_MINOR, made.get(),    enumerate, open,   close,    choices,
        buffer_create,      buffer_destroy, queue_create, queue_destroy, copy,      submit, supports, event_wait,
        event_time_ns,      event_destroy,  finish,       extension,     shutdown};
    *table = &made.release()->table;
  });
}

}  // namespace
}  // namespace mokume::opencl

MOKUME_PLUGIN(MK_PLUGIN_BACKEND, "opencl", "GPUs and CPUs of every vendor through OpenCL", mokume::opencl::start)
