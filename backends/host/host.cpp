// The host backend: every op on this machine's processor, twice. Device 0 is the fast path; device 1 computes every op
// plainly with fp64 sums and is the oracle that every backend is tested against.
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "call.hpp"
#include "device_info.hpp"
#include "fast_table.hpp"
#include "isa/isa.hpp"
#include "onednn.hpp"
#include "operands.hpp"
#include "reference_table.hpp"
#include "sdk/ops.hpp"

namespace mokume::host {
namespace {

constexpr char kIsaKey[] = "host.isa";
constexpr char kGemmKey[] = "host.gemm";

// Functions by op code; null where the directory has no file of that op's name.
using OpTable = std::array<OpFunction, MK_OP_COUNT_>;

template <size_t N>
constexpr OpTable by_code(const NamedOp (&named)[N]) {
  OpTable table{};
  for (const ops::OpRule& rule : ops::kOps)
    for (const NamedOp& entry : named)
      if (std::string_view(rule.name) == entry.name) table[static_cast<size_t>(rule.code)] = entry.function;
  return table;
}

constexpr OpTable kReference = by_code(reference::kTable);
constexpr OpTable kFast = by_code(fast::kTable);

constexpr bool complete() {
  for (const ops::OpRule& rule : ops::kOps) {
    bool found = false;
    for (const NamedOp& entry : reference::kTable) found = found || std::string_view(rule.name) == entry.name;
    if (!found) return false;
  }
  return true;
}
static_assert(complete(), "every op needs backends/host/reference/<op>.cpp");

struct Backend {
  sdk::Host host;
  mk_backend table{};
};

void require(bool kept, const char* what) {
  if (!kept) throw Error(MK_INVALID_ARGUMENT, std::string("host: ") + what);
}

uint64_t now_ns() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// Runs a command and, where one is asked for, leaves an event that says when.
template <class Command>
void timed(const mk_queue& queue, mk_event** event, Command&& command) {
  if (event == nullptr) return command();
  auto done = std::make_unique<mk_event>(mk_event{queue.profiling, now_ns(), 0});
  command();
  done->end_ns = now_ns();
  *event = done.release();
}

// ---- devices -------------------------------------------------------------------------------------------------------

int32_t enumerate(void*, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    require(count != nullptr && (infos != nullptr || capacity == 0), "enumerate needs somewhere to write to");
    for (uint32_t i = 0; i < kDevices && i < capacity; ++i) infos[i] = device_info(i);
    *count = kDevices;
  });
}

template <size_t N>
std::string_view text(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

const Loops* apply_choices(const mk_choice* choices, uint32_t n) {
  const Loops* loops = &best_loops();
  for (uint32_t i = 0; i < n; ++i) {
    const std::string_view key = text(choices[i].key), value = text(choices[i].value);
    if (key == kIsaKey) loops = &loops_for(value);
    if (key == kGemmKey && value != onednn_choice())
      throw Error(MK_DEVICE_ERROR, "host.gemm is \"" + std::string(value) + "\", but here it is \"" + onednn_choice() +
                                       "\": start a new run, use machines of one kind, or set DNNL_MAX_CPU_ISA to "
                                       "the smaller instruction set everywhere");
  }
  return loops;
}

int32_t open(void* self, uint32_t index, const mk_choice* choices, uint32_t n_choices, mk_device** device,
             mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && (choices != nullptr || n_choices == 0), "open needs somewhere to write to");
    require(index < kDevices, "there is no device of that index");
    const bool oracle = index == kOracleDevice;
    const Loops* loops = oracle ? &best_loops() : apply_choices(choices, n_choices);
    const uint64_t max_buffer_bytes = device_info(index).max_buffer_bytes;
    *device = new mk_device{static_cast<Backend*>(self)->host, oracle, loops, max_buffer_bytes};
  });
}

void close(mk_device* device) { delete device; }

// The oracle has none: it is the same plain C++ everywhere.
int32_t choices(mk_device* device, mk_choice* out, uint32_t capacity, uint32_t* count, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && count != nullptr && (out != nullptr || capacity == 0), "choices needs a device");
    const std::array<std::array<std::string, 2>, 2> made = {
        {{kIsaKey, device->loops->isa}, {kGemmKey, device->oracle ? "" : onednn_choice()}}};
    const uint32_t n = device->oracle ? 0 : static_cast<uint32_t>(made.size());
    for (uint32_t i = 0; i < n && i < capacity; ++i) {
      sdk::set_text(out[i].key, made[i][0]);
      sdk::set_text(out[i].value, made[i][1]);
    }
    *count = n;
  });
}

// ---- memory --------------------------------------------------------------------------------------------------------

int32_t buffer_create(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && buffer != nullptr && bytes > 0, "a buffer needs a device and at least one byte");
    const mk_host* host = device->host.table();
    auto made = std::make_unique<mk_buffer>(mk_buffer{device, nullptr, bytes});
    if (bytes <= device->max_buffer_bytes) made->memory = static_cast<std::byte*>(host->allocate(host->self, bytes));
    if (made->memory == nullptr)
      throw Error(MK_OUT_OF_MEMORY, "host: no memory for a buffer of " + std::to_string(bytes) + " bytes");
    *buffer = made.release();
  });
}

void buffer_destroy(mk_device* device, mk_buffer* buffer) {
  if (buffer == nullptr) return;
  const mk_host* host = device->host.table();
  host->release(host->self, buffer->memory);
  delete buffer;
}

void* pointer(mk_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->memory; }

// ---- queues --------------------------------------------------------------------------------------------------------

int32_t queue_create(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error) {
  return sdk::guard(error, [&] {
    require(device != nullptr && queue != nullptr, "a queue needs a device");
    require((flags & ~MK_QUEUE_PROFILING) == 0, "unknown queue flags");
    *queue = new mk_queue{device, (flags & MK_QUEUE_PROFILING) != 0};
  });
}

void queue_destroy(mk_queue* queue) { delete queue; }

std::byte* range(const mk_queue& queue, mk_buffer* buffer, uint64_t offset, uint64_t bytes) {
  require(buffer != nullptr && buffer->device == queue.device, "copy needs buffers of its queue's device");
  require(offset <= buffer->bytes && bytes <= buffer->bytes - offset, "copy reaches beyond a buffer");
  return buffer->memory + offset;
}

void run_copy(const mk_queue& queue, const mk_copy& copy, mk_event** event) {
  const bool reads = copy.kind == MK_COPY_READ || copy.kind == MK_COPY_DEVICE;
  const bool writes = copy.kind == MK_COPY_WRITE || copy.kind == MK_COPY_DEVICE;
  require(reads || writes, "unknown kind of copy");
  require(copy.kind == MK_COPY_DEVICE || copy.host != nullptr || copy.bytes == 0, "copy needs host memory");
  const std::byte* from =
      reads ? range(queue, copy.from, copy.from_offset, copy.bytes) : static_cast<const std::byte*>(copy.host);
  std::byte* to = writes ? range(queue, copy.to, copy.to_offset, copy.bytes) : static_cast<std::byte*>(copy.host);
  const bool apart = !(reads && writes && copy.from == copy.to) || copy.from_offset + copy.bytes <= copy.to_offset ||
                     copy.to_offset + copy.bytes <= copy.from_offset;
  require(apart, "copy within a buffer needs ranges that do not overlap");
  timed(queue, event, [&] {
    if (copy.bytes > 0) std::memcpy(to, from, copy.bytes);
  });
}

int32_t copy(mk_queue* queue, const mk_copy* what, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    require(queue != nullptr && what != nullptr, "copy needs a queue and a description");
    run_copy(*queue, *what, event);
  });
}

int32_t submit(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error) {
  return sdk::guard(error, [&] {
    require(queue != nullptr && op != nullptr, "submit needs a queue and an op");
    ops::check(*op);
    const mk_device& device = *queue->device;
    check_operands(device, *op);
    const auto code = static_cast<size_t>(op->code);
    const OpFunction run = device.oracle || kFast[code] == nullptr ? kReference[code] : kFast[code];
    timed(*queue, event, [&] {
      const SubnormalsAreZero here;
      if (!sdk::empty(op->outputs[0])) run(Call{*op, device.host, *device.loops});
    });
  });
}

int32_t supports(mk_device*, const mk_op* op) {
  mk_error ignored;
  return sdk::guard(&ignored, [&] { ops::check(*op); }) == MK_OK ? MK_SUPPORT_YES : MK_SUPPORT_NO;
}

// ---- events --------------------------------------------------------------------------------------------------------

int32_t event_wait(mk_event*, mk_error*) { return MK_OK; }

int32_t event_time_ns(mk_event* event, uint64_t start_end[2], mk_error* error) {
  return sdk::guard(error, [&] {
    require(event != nullptr && start_end != nullptr, "event_time_ns needs an event");
    require(event->profiling, "times are kept on profiling queues only");
    start_end[0] = event->start_ns;
    start_end[1] = event->end_ns;
  });
}

void event_destroy(mk_event* event) { delete event; }

int32_t finish(mk_queue*, mk_error*) { return MK_OK; }

// ---- start ---------------------------------------------------------------------------------------------------------

const void* extension(void*, const char* name) {
  static constexpr mk_host_pointer kHostPointer = {sizeof(mk_host_pointer), 0, pointer};
  return name != nullptr && std::string_view(name) == "host_pointer_v1" ? &kHostPointer : nullptr;
}

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
}  // namespace mokume::host

MOKUME_PLUGIN(MK_PLUGIN_BACKEND, "host", "this machine's processor through oneDNN and own loops, and the oracle",
              mokume::host::start)
