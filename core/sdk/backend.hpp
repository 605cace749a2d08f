// Builds the C table of a backend from the author's own types, so that no boundary code is written by hand.
//
//   struct mk_device { ... };  // likewise mk_buffer, mk_queue and mk_event; the table deletes them
//
//   struct Backend {
//     explicit Backend(const sdk::Host&);
//     std::vector<mk_device_info> devices();                       // lists devices, opens none
//     std::unique_ptr<mk_device> open(uint32_t index, std::span<const mk_choice>);         // index < devices().size()
//     static std::vector<sdk::Choice> choices(const mk_device&);   // choices that affect results; recorded
//     static std::unique_ptr<mk_buffer> create_buffer(mk_device&, uint64_t bytes);         // bytes > 0
//     static std::unique_ptr<mk_queue> create_queue(mk_device&, bool profiling);
//     // Both return an event if want_event is set.
//     static std::unique_ptr<mk_event> copy(mk_queue&, const mk_copy&, bool want_event);
//     static std::unique_ptr<mk_event> submit(mk_queue&, const mk_op&, bool want_event);
//     static int32_t supports(const mk_device&, const mk_op&);     // MK_SUPPORT_*; must not throw
//     static void wait(mk_event&);
//     static std::array<uint64_t, 2> time_ns(const mk_event&);     // throws unless its queue is profiling
//     static void finish(mk_queue&);
//     static const void* extension(std::string_view name);
//   };
//   MOKUME_BACKEND(Backend, "name", "one line")
//
// All functions except supports() may throw Error. abi/backend.h specifies the duties and the thread of each function.
// core/device has checked every op and every copy before these calls; a build without NDEBUG checks the shape rule
// again.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/backend.h"
#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"

namespace mokume::sdk {

struct Choice {
  std::string key, value;
};

template <class Backend>
class BackendTable {
 public:
  // Implements mk_plugin_header::start.
  static int32_t start(const mk_host* host, const void** table, mk_error* error) {
    return guard(error, [&] {
      need(host != nullptr && table != nullptr, "start needs a host and an output pointer");
      auto made = std::make_unique<BackendTable>(host);
      *table = &made.release()->table_;
    });
  }

  explicit BackendTable(const mk_host* host) : backend_(Host(host)) {
    table_ = {
        .struct_size = sizeof(mk_backend),
        .abi_major = MK_ABI_MAJOR,
        .abi_minor = MK_ABI_MINOR,
        .self = this,
        .enumerate = enumerate,
        .open = open,
        .close = destroy<mk_device>,
        .choices = choices,
        .buffer_create = buffer_create,
        .buffer_destroy = [](mk_device*, mk_buffer* buffer) { destroy(buffer); },
        .queue_create = queue_create,
        .queue_destroy = destroy<mk_queue>,
        .copy = copy,
        .submit = submit,
        .supports = [](mk_device* device, const mk_op* op) { return Backend::supports(*device, *op); },
        .event_wait = event_wait,
        .event_time_ns = event_time_ns,
        .event_destroy = destroy<mk_event>,
        .finish = finish,
        .extension = [](void*, const char* name) -> const void* {
          return name == nullptr ? nullptr : Backend::extension(name);
        },
        .shutdown = [](void* self) { delete static_cast<BackendTable*>(self); },
    };
  }

 private:
  // This is a template, because the author may define the types after including this header.
  template <class Handle>
  static void destroy(Handle* handle) {
    delete handle;
  }

  static void need(bool kept, const char* what) {
    if (!kept) throw Error(MK_INVALID_ARGUMENT, what);
  }

  static Backend& backend(void* self) { return static_cast<BackendTable*>(self)->backend_; }

  static int32_t enumerate(void* self, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error) {
    return guard(error, [&] {
      need(count != nullptr && (infos != nullptr || capacity == 0), "enumerate needs output pointers");
      const auto& devices = backend(self).devices();
      std::copy_n(devices.begin(), std::min<size_t>(devices.size(), capacity), infos);
      *count = static_cast<uint32_t>(devices.size());
    });
  }

  static int32_t open(void* self, uint32_t index, const mk_choice* choices, uint32_t n_choices, mk_device** device,
                      mk_error* error) {
    return guard(error, [&] {
      need(device != nullptr && (choices != nullptr || n_choices == 0), "open needs an output pointer");
      need(index < backend(self).devices().size(), "there is no device with that index");
      *device = backend(self).open(index, {choices, n_choices}).release();
    });
  }

  static int32_t choices(mk_device* device, mk_choice* out, uint32_t capacity, uint32_t* count, mk_error* error) {
    return guard(error, [&] {
      need(device != nullptr && count != nullptr && (out != nullptr || capacity == 0), "choices needs a device");
      const std::vector<Choice> made = Backend::choices(*device);
      for (size_t i = 0; i < made.size() && i < capacity; ++i) {
        set_text(out[i].key, made[i].key);
        set_text(out[i].value, made[i].value);
      }
      *count = static_cast<uint32_t>(made.size());
    });
  }

  static int32_t buffer_create(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
    return guard(error, [&] {
      need(device != nullptr && buffer != nullptr && bytes > 0, "a buffer needs a device and at least one byte");
      *buffer = Backend::create_buffer(*device, bytes).release();
    });
  }

  static int32_t queue_create(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error) {
    return guard(error, [&] {
      need(device != nullptr && queue != nullptr, "a queue needs a device");
      need((flags & ~MK_QUEUE_PROFILING) == 0, "unknown queue flags");
      *queue = Backend::create_queue(*device, (flags & MK_QUEUE_PROFILING) != 0).release();
    });
  }

  template <class Event>
  static void give(mk_event** event, std::unique_ptr<Event> made) {
    if (event != nullptr) *event = made.release();
  }

  static int32_t copy(mk_queue* queue, const mk_copy* what, mk_event** event, mk_error* error) {
    return guard(error, [&] { give(event, Backend::copy(*queue, *what, event != nullptr)); });
  }

  static int32_t submit(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error) {
    assert(guard(nullptr, [&] { ops::check(*op); }) == MK_OK);
    return guard(error, [&] { give(event, Backend::submit(*queue, *op, event != nullptr)); });
  }

  static int32_t event_wait(mk_event* event, mk_error* error) {
    return guard(error, [&] { Backend::wait(*event); });
  }

  static int32_t event_time_ns(mk_event* event, uint64_t start_end[2], mk_error* error) {
    return guard(error, [&] {
      const std::array<uint64_t, 2> times = Backend::time_ns(*event);
      std::copy(times.begin(), times.end(), start_end);
    });
  }

  static int32_t finish(mk_queue* queue, mk_error* error) {
    return guard(error, [&] { Backend::finish(*queue); });
  }

  Backend backend_;
  mk_backend table_{};
};

}  // namespace mokume::sdk

// Defines the one exported symbol of a backend.
#define MOKUME_BACKEND(BACKEND, NAME, DESCRIPTION) \
  MOKUME_PLUGIN(MK_PLUGIN_BACKEND, NAME, DESCRIPTION, mokume::sdk::BackendTable<BACKEND>::start)
