// The null backend: the template to copy. It keeps every rule of abi/backend.h and computes nothing, so that what is
// left is what a new backend starts from, and what the program's own overhead is measured with.
//
// The order below is the order of a program's life: the library starts, lists its devices, opens one, makes buffers
// and a queue, copies, submits, waits, and shuts down. README.md says what to change first.
#include <cstring>
#include <memory>
#include <string>

// A backend includes abi/ and sdk/ of the program and nothing else of it.
#include "abi/backend.h"
#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"

// The program sees these types as opaque pointers. What is inside is the backend's affair; here a buffer holds no
// memory, only its size. A real backend puts its driver's handles here.
struct mk_device {
  mokume::sdk::Host host;  // the program's services: log, parallel_for, memory, cache directory
};

struct mk_buffer {
  mk_device* device;
  uint64_t bytes;
};

struct mk_queue {
  mk_device* device;
  bool profiling;
};

struct mk_event {
  bool profiling;
};

namespace {

using mokume::Error;
namespace ops = mokume::ops;
namespace sdk = mokume::sdk;

// What start() creates. There is no global state: the table's `self` leads here, and shutdown() deletes it.
struct Backend {
  sdk::Host host;
  mk_backend table{};
};

// Errors inside are exceptions; sdk::guard, around every function of the table, turns them into a status and a message.
// Say what is wrong and what to do, in one sentence.
void require(bool kept, const char* what) {
  if (!kept) throw Error(MK_INVALID_ARGUMENT, std::string("null: ") + what);
}

// ---- devices -------------------------------------------------------------------------------------------------------

// Lists devices and opens none. Called with capacity 0 to learn the count. A driver that is present but useless is
// logged with its cure (host.log(MK_LOG_WARNING, ...)), not returned as an error: other devices may be fine.
int32_t enumerate(void*, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    require(count != nullptr && (infos != nullptr || capacity == 0), "enumerate needs somewhere to write to");
    if (capacity > 0) {
      mk_device_info info{};
      info.struct_size = sizeof info;
      info.kind = MK_DEVICE_OTHER;
      // Keeps this device out of "all" and "every". A real device sets MK_DEVICE_FP64 or nothing.
      info.flags = MK_DEVICE_TEMPLATE;
      info.memory_bytes = info.max_buffer_bytes = uint64_t{1} << 40;
      info.compute_units = 1;
      // name, platform, driver and isa make the device class: devices of one class must give the same bits.
      sdk::set_text(info.name, "null");
      sdk::set_text(info.platform, "null");
      sdk::set_text(info.vendor, "mokume");
      sdk::set_text(info.version, MOKUME_VERSION);
      // Two platforms may list one device: what is equal here is used once.
      sdk::set_text(info.physical_id, "null:0");
      infos[0] = info;
    }
    *count = 1;
  });
}

// `choices` are measurements made earlier (kernel variants). A backend that recorded one must follow it or fail with
// MK_DEVICE_ERROR, since results depend on it; keys of other backends are ignored.
int32_t open(void* self, uint32_t index, const mk_choice*, uint32_t, mk_device** device, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr, "open needs somewhere to write to");
    require(index == 0, "there is no device of that index");
    *device = new mk_device{static_cast<Backend*>(self)->host};
  });
}

void close(mk_device* device) { delete device; }

// What open() measured or was told, for the program to record. Nothing here: no result depends on a measurement.
int32_t choices(mk_device*, mk_choice*, uint32_t, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    require(count != nullptr, "choices needs somewhere to write to");
    *count = 0;
  });
}

// ---- memory --------------------------------------------------------------------------------------------------------

// Throw Error(MK_OUT_OF_MEMORY) when the device is full: the program then splits the work or tries a larger device.
int32_t buffer_create(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && buffer != nullptr && bytes > 0, "a buffer needs a device and at least one byte");
    *buffer = new mk_buffer{device, bytes};
  });
}

void buffer_destroy(mk_device*, mk_buffer* buffer) { delete buffer; }

// ---- queues --------------------------------------------------------------------------------------------------------

int32_t queue_create(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && queue != nullptr, "a queue needs a device");
    require((flags & ~MK_QUEUE_PROFILING) == 0, "unknown queue flags");
    *queue = new mk_queue{device, (flags & MK_QUEUE_PROFILING) != 0};
  });
}

void queue_destroy(mk_queue* queue) { delete queue; }

// Every range is checked before a driver sees it. Written so that no sum can overflow.
void check_range(const mk_queue& queue, const mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  require(buffer != nullptr && buffer->device == queue.device, "copy needs buffers of its queue's device");
  require(offset <= buffer->bytes && bytes <= buffer->bytes - offset, "copy reaches beyond a buffer");
}

// `event` may be null. An event is created only when everything before it has worked.
void signal(const mk_queue& queue, mk_event** event) {
  if (event != nullptr) *event = new mk_event{queue.profiling};
}

int32_t copy(mk_queue* queue, const mk_copy* copy, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    require(queue != nullptr && copy != nullptr, "copy needs a queue and a description");
    const bool reads = copy->kind == MK_COPY_READ || copy->kind == MK_COPY_DEVICE;
    const bool writes = copy->kind == MK_COPY_WRITE || copy->kind == MK_COPY_DEVICE;
    require(reads || writes, "unknown kind of copy");
    require(copy->kind == MK_COPY_DEVICE || copy->host != nullptr || copy->bytes == 0, "copy needs host memory");
    if (reads) check_range(*queue, copy->from, copy->from_offset, copy->bytes);
    if (writes) check_range(*queue, copy->to, copy->to_offset, copy->bytes);
    // No memory, nothing to read: zeros, so that no caller sees what its own memory held before.
    if (copy->kind == MK_COPY_READ && copy->bytes > 0) std::memset(copy->host, 0, copy->bytes);
    signal(*queue, event);
  });
}

// ---- ops -----------------------------------------------------------------------------------------------------------

// The shape rule does not look at buffers; this does.
void check_buffer(const mk_queue& queue, const mk_tensor& t) {
  if (t.buffer == nullptr) return require(sdk::empty(t), "an operand has no buffer");
  require(t.buffer->device == queue.device, "an operand has a buffer of another device");
  const auto end = static_cast<uint64_t>(sdk::extent(t));
  require(end <= t.buffer->bytes / sdk::kElementBytes, "an operand reaches beyond its buffer");
}

// The narrow waist: every op arrives here as one descriptor. A real backend switches on op->code, enqueues a kernel and
// returns; what each code means is in core/sdk/ops/<op>.hpp.
int32_t submit(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    require(queue != nullptr && op != nullptr, "submit needs a queue and an op");
    ops::check(*op);  // throws MK_UNSUPPORTED for an unknown code, MK_INVALID_ARGUMENT for a broken shape rule
    for (uint32_t i = 0; i < op->n_inputs; ++i) check_buffer(*queue, op->inputs[i]);
    for (uint32_t i = 0; i < op->n_outputs; ++i) check_buffer(*queue, op->outputs[i]);
    signal(*queue, event);
  });
}

// A backend may start with one op and say MK_SUPPORT_NO to all others: the program runs those on the host backend,
// counts them and shows the count.
int32_t supports(mk_device*, const mk_op* op) {
  return sdk::guard(nullptr, [&] { ops::check(*op); }) == MK_OK ? MK_SUPPORT_YES : MK_SUPPORT_NO;
}

// ---- events --------------------------------------------------------------------------------------------------------

// Wait by sleeping (a callback and a condition variable), never by spinning: the core may be computing elsewhere.
int32_t event_wait(mk_event*, mk_error*) { return MK_OK; }

int32_t event_time_ns(mk_event* event, uint64_t start_end[2], mk_error* error) {
  return sdk::guard(error, [&] {
    require(event != nullptr && start_end != nullptr, "event_time_ns needs an event");
    require(event->profiling, "times are kept on profiling queues only");
    start_end[0] = start_end[1] = 0;
  });
}

void event_destroy(mk_event* event) { delete event; }

int32_t finish(mk_queue*, mk_error*) { return MK_OK; }

// ---- start and end -------------------------------------------------------------------------------------------------

// Optional tables by name, or null: "kernel_source_v1", "host_pointer_v1".
const void* extension(void*, const char*) { return nullptr; }

void shutdown(void* self) { delete static_cast<Backend*>(self); }

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return sdk::guard(error, [&] {
    auto backend = std::make_unique<Backend>();
    backend->host = sdk::Host(host);
    backend->table = {
        .struct_size = sizeof(mk_backend),
        .abi_major = MK_ABI_MAJOR,
        .abi_minor = MK_ABI_MINOR,
        .self = backend.get(),
        .enumerate = enumerate,
        .open = open,
        .close = close,
        .choices = choices,
        .buffer_create = buffer_create,
        .buffer_destroy = buffer_destroy,
        .queue_create = queue_create,
        .queue_destroy = queue_destroy,
        .copy = copy,
        .submit = submit,
        .supports = supports,
        .event_wait = event_wait,
        .event_time_ns = event_time_ns,
        .event_destroy = event_destroy,
        .finish = finish,
        .extension = extension,
        .shutdown = shutdown,
    };
    *table = &backend.release()->table;
  });
}

}  // namespace

// The one exported symbol. The name is what a config writes and equals the file's name.
MOKUME_PLUGIN(MK_PLUGIN_BACKEND, "null", "accepts everything, computes nothing", start)
