// The null backend: the template to copy. It keeps every rule of abi/backend.h and computes nothing, so that what is
// left is what a new backend starts from, and what the program's own overhead is measured with.
//
// The order below is the order of a program's life: the library starts, lists its devices, opens one, makes buffers
// and a queue, copies, submits, waits, and shuts down. README.md says what to change first.
#include <cstring>

// A backend includes abi/ and sdk/ of the program and nothing else of it.
#include "sdk/backend.hpp"

// The program sees these types as opaque pointers. What is inside is the backend's affair; here a buffer holds no
// memory. A real backend puts its driver's handles here, in owners that release them.
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

// There is no global state: the table's `self` leads to this object, and shutdown() deletes it. Errors are exceptions;
// the table turns them into a status and a message. Say what is wrong and what to do, in one sentence.
class Backend {
 public:
  // The host has the program's services: log, parallel_for, memory, cache directory.
  explicit Backend(const sdk::Host&) {}

  // ---- devices -----------------------------------------------------------------------------------------------------

  // Lists devices and opens none. A driver that is present but useless is logged with its cure
  // (host.log(MK_LOG_WARNING, ...)), not returned as an error: other devices may be fine.
  static std::vector<mk_device_info> devices() {
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
    return {info};
  }

  // The choices are measurements made earlier (kernel variants). A backend that recorded one must follow it or fail
  // with MK_DEVICE_ERROR, since results depend on it; keys of other backends are ignored.
  static std::unique_ptr<mk_device> open(uint32_t, std::span<const mk_choice>) { return std::make_unique<mk_device>(); }

  // Lists what open() measured or was told, for the program to record. There is nothing here: no result depends on a
  // measurement.
  static std::vector<sdk::Choice> choices(const mk_device&) { return {}; }

  // ---- memory ------------------------------------------------------------------------------------------------------

  // Throw Error(MK_OUT_OF_MEMORY) when the device is full: the program then splits the work or tries a larger device.
  static std::unique_ptr<mk_buffer> create_buffer(mk_device&, uint64_t) { return std::make_unique<mk_buffer>(); }

  // ---- queues ------------------------------------------------------------------------------------------------------

  static std::unique_ptr<mk_queue> create_queue(mk_device&, bool profiling) {
    return std::make_unique<mk_queue>(mk_queue{profiling});
  }

  // The program has checked kind, buffers and ranges. No memory, nothing to read: zeros, so that no caller sees what
  // its own memory held before.
  static std::unique_ptr<mk_event> copy(mk_queue& queue, const mk_copy& copy, bool want_event) {
    if (copy.kind == MK_COPY_READ && copy.bytes > 0) std::memset(copy.host, 0, copy.bytes);
    return event_of(queue, want_event);
  }

  // ---- ops ---------------------------------------------------------------------------------------------------------

  // The narrow waist: every op arrives here as one descriptor, checked against its shape rule and its buffers. A real
  // backend chooses by op.code, enqueues a kernel and returns; what each code means is in core/sdk/ops/<op>.hpp.
  static std::unique_ptr<mk_event> submit(mk_queue& queue, const mk_op&, bool want_event) {
    return event_of(queue, want_event);
  }

  // A backend may start with one op and say MK_SUPPORT_NO to all others: the program runs those on the host backend,
  // counts them and shows the count.
  static int32_t supports(const mk_device&, const mk_op&) { return MK_SUPPORT_YES; }

  // ---- events ------------------------------------------------------------------------------------------------------

  // Wait by sleeping (a callback and a condition variable), never by spinning: the core may be computing elsewhere.
  static void wait(mk_event&) {}

  static std::array<uint64_t, 2> time_ns(const mk_event& event) {
    if (!event.profiling) throw Error(MK_INVALID_ARGUMENT, "null: times are kept on profiling queues only");
    return {0, 0};
  }

  static void finish(mk_queue&) {}

  // Optional tables by name, or null: see abi/backend.h.
  static const void* extension(std::string_view) { return nullptr; }

 private:
  // Only when everything before it has worked.
  static std::unique_ptr<mk_event> event_of(const mk_queue& queue, bool wanted) {
    return wanted ? std::make_unique<mk_event>(mk_event{queue.profiling}) : nullptr;
  }
};

}  // namespace

// The one exported symbol. The name is what a config writes and equals the file's name.
MOKUME_BACKEND(Backend, "null", "accepts everything, computes nothing")
