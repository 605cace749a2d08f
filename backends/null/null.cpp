// The null backend is the template to copy. It keeps every rule of abi/backend.h and computes nothing. A new backend
// starts from this file, with which the overhead of the program itself is also measured.
//
// Functions appear in the order in which the program calls them: start the library, list its devices, open one, create
// buffers and a queue, copy, submit, wait, shut down. README.md describes what to change first.
#include <cstring>

// A backend includes only the headers of abi/ and sdk/.
#include "sdk/backend.hpp"

// The program sees these types as opaque pointers, so the backend decides what they contain. Here a buffer holds no
// memory. A real backend stores its driver's handles here, in owners that release them.
struct mk_device {};
struct mk_buffer {};

struct mk_queue {
  bool profiling;
};

struct mk_event {
  bool profiling;
};

namespace {

using mokume::Error;
namespace sdk = mokume::sdk;

// There is no global state: the table's `self` points to this object, and shutdown() deletes it. Errors are exceptions,
// which the table turns into a status and a message. A message states in one sentence what is wrong and what to do.
class Backend {
 public:
  // The host offers the program's services: log, parallel_for, memory, cache directory.
  explicit Backend(const sdk::Host&) {}

  // ---- devices -----------------------------------------------------------------------------------------------------

  // Lists devices without opening any. Logs a driver that is present but unusable, together with the cure
  // (host.log(MK_LOG_WARNING, ...)), instead of returning an error, because other devices may be fine.
  static std::vector<mk_device_info> devices() {
    mk_device_info info{};
    info.struct_size = sizeof info;
    info.kind = MK_DEVICE_OTHER;
    // Keeps this device out of "all" and "every". A real device sets MK_DEVICE_FP64 or nothing.
    info.flags = MK_DEVICE_TEMPLATE;
    info.memory_bytes = info.max_buffer_bytes = uint64_t{1} << 40;
    info.compute_units = 1;
    // name, platform, driver and isa form the device class: devices of one class must give the same bits.
    sdk::set_text(info.name, "null");
    sdk::set_text(info.platform, "null");
    sdk::set_text(info.vendor, "mokume");
    sdk::set_text(info.version, MOKUME_VERSION);
    // Two platforms may list one device. Among devices with equal physical_id, only one is used.
    sdk::set_text(info.physical_id, "null:0");
    return {info};
  }

  // The choices are earlier measurements (kernel variants). A backend that recorded a choice must follow it or fail
  // with MK_DEVICE_ERROR, because results depend on it. A backend ignores keys of other backends.
  static std::unique_ptr<mk_device> open(uint32_t, std::span<const mk_choice>) { return std::make_unique<mk_device>(); }

  // Lists what open() measured or received, for the program to record. The list is empty here because no result depends
  // on a measurement.
  static std::vector<sdk::Choice> choices(const mk_device&) { return {}; }

  // ---- memory ------------------------------------------------------------------------------------------------------

  // A backend throws Error(MK_OUT_OF_MEMORY) if its device is full; the program then splits the work or tries another.
  static std::unique_ptr<mk_buffer> create_buffer(mk_device&, uint64_t) { return std::make_unique<mk_buffer>(); }

  // ---- queues ------------------------------------------------------------------------------------------------------

  static std::unique_ptr<mk_queue> create_queue(mk_device&, bool profiling) {
    return std::make_unique<mk_queue>(mk_queue{profiling});
  }

  // The program has checked kind, buffers and ranges. A buffer without memory reads as zeros, so that no caller sees
  // the previous contents of its own memory.
  static std::unique_ptr<mk_event> copy(mk_queue& queue, const mk_copy& copy, bool want_event) {
    if (copy.kind == MK_COPY_READ && copy.bytes > 0) std::memset(copy.host, 0, copy.bytes);
    return event_of(queue, want_event);
  }

  // ---- ops ---------------------------------------------------------------------------------------------------------

  // This is the narrow waist: every op arrives here as one descriptor, checked against its shape rule and its buffers.
  // A real backend selects a kernel by op.code, enqueues it and returns. core/sdk/ops/<op>.hpp defines each code and
  // its attributes, such as op.gemm.alpha.
  static std::unique_ptr<mk_event> submit(mk_queue& queue, const mk_op&, bool want_event) {
    return event_of(queue, want_event);
  }

  // A backend may start with one op and answer MK_SUPPORT_NO for all others. The program runs those on the host
  // backend, counts them and shows the count.
  static int32_t supports(const mk_device&, const mk_op&) { return MK_SUPPORT_YES; }

  // ---- events ------------------------------------------------------------------------------------------------------

  // A backend waits by sleeping (a condition variable, or short sleeps), never by long spinning, because other
  // computing may need the core.
  static void wait(mk_event&) {}

  static std::array<uint64_t, 2> time_ns(const mk_event& event) {
    if (!event.profiling) throw Error(MK_INVALID_ARGUMENT, "null: only profiling queues record times");
    return {0, 0};
  }

  static void finish(mk_queue&) {}

  // Returns an optional table by name, or null (see abi/backend.h).
  static const void* extension(std::string_view) { return nullptr; }

 private:
  // Creates the event last, when everything that could fail has succeeded.
  static std::unique_ptr<mk_event> event_of(const mk_queue& queue, bool wanted) {
    return wanted ? std::make_unique<mk_event>(mk_event{queue.profiling}) : nullptr;
  }
};

}  // namespace

// Defines the only exported symbol. Configurations use this name, and the file has the same name.
MOKUME_BACKEND(Backend, "null", "accepts everything, computes nothing")
