// Wraps the host backend's first device as "fault:0", with a fault. MOKUME_FAULT=KIND:N selects the behaviour of op N
// and of all ops after it, counted from 1 in each process. Without MOKUME_FAULT, the device has no fault. The kind
// "closed" means that the device cannot be opened, "open-crash" that opening it crashes, and "open-hang" that opening
// it never returns.
//   fail     MK_DEVICE_ERROR           memory   MK_OUT_OF_MEMORY
//   crash    SIGSEGV                   hang     never returns
//   slow     takes a millisecond more  garbage  writes bytes that are no message to descriptor 3, and never returns
//   throw    an exception, which must not cross the boundary
// MOKUME_FAULT=skew:OP makes the results of an op, such as gemm, wrong by a quarter, without an error.
// MOKUME_FAULT_IN=FUNCTION counts calls of buffer_create, queue_create, copy or finish instead of ops (submit).
// MOKUME_FAULT_ONCE=FILE limits the fault to its first time, which creates FILE.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "abi/backend.h"
#include "sdk/ops.hpp"
#include "sdk/plugin.hpp"
#include "support/paths.hpp"

namespace {

using mokume::Error;
namespace sdk = mokume::sdk;
namespace test = mokume::test;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Fault {
  std::string kind;
  uint64_t from = 0;
  std::string once;      // path of the file
  std::string function;  // the fault counts calls of this function
  std::string skewed;    // name of an op, or ""
  std::atomic<uint64_t> ops{0};

  Fault() : once(variable("MOKUME_FAULT_ONCE")), function(variable("MOKUME_FAULT_IN")) {
    if (function.empty()) function = "submit";
    const std::string text = variable("MOKUME_FAULT");
    const size_t colon = text.find(':');
    kind = text.substr(0, colon);
    if (colon != std::string::npos) from = std::strtoull(text.c_str() + colon + 1, nullptr, 10);
    if (kind == "skew") skewed = text.substr(colon + 1);
  }

  bool due() {
    if (kind.empty() || kind == "closed" || kind == "skew" || kind.starts_with("open-") || ++ops < from) return false;
    return is_first();
  }

  bool is_first() const {
    if (once.empty()) return true;
    const int file = ::open(once.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return false;
    ::close(file);
    return true;
  }

  void strike() const {
    if (kind == "fail") throw Error(MK_DEVICE_ERROR, "the device failed, as it was told to");
    if (kind == "memory") throw Error(MK_OUT_OF_MEMORY, "the device is full, as it was told to be");
    if (kind == "crash" || kind == "open-crash") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit code
      ::write(STDERR_FILENO, "the driver's last words\n", 24) < 0 ? abort() : static_cast<void>(raise(SIGSEGV));
    }
    if (kind == "slow") return std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (kind == "garbage") {
      const char bytes[16] = {'\x0c', 0, 0, 0, 'n', 'o', ' ', 'm', 'e', 's', 's', 'a', 'g', 'e', '!', '!'};
      if (::write(3, &bytes[0], sizeof(bytes)) < 0) abort();
    }
    for (;;) pause();
  }
};

struct Backend {
  const mk_backend* host = nullptr;
  mk_backend table{};
  Fault fault;
};

// The functions of the table for open devices do not receive the backend.
Backend* the_backend = nullptr;

int32_t enumerate(void* self, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error) {
  uint32_t all = 0;
  const uint32_t wanted = capacity > 0 ? 1 : 0;
  const int32_t status = the_backend->host->enumerate(self, infos, wanted, &all, error);
  *count = status == MK_OK ? 1 : 0;
  return status;
}

int32_t open(void* self, uint32_t index, const mk_choice* choices, uint32_t count, mk_device** device,
             mk_error* error) {
  const int32_t status = sdk::guard(error, [] {
    Fault& fault = the_backend->fault;
    if (fault.kind.starts_with("open-") && fault.is_first()) fault.strike();
    if (fault.kind == "closed") throw Error(MK_DEVICE_ERROR, "the device stays closed, as it was told to");
  });
  return status != MK_OK ? status : the_backend->host->open(self, index, choices, count, device, error);
}

// Calls the host backend's function, unless the fault is due in this call.
template <class Function, class... Arguments>
int32_t call(const char* name, Function function, mk_error* error, Arguments... arguments) {
  Fault& fault = the_backend->fault;
  const bool due = fault.function == name && fault.due();
  if (due && fault.kind == "throw") throw std::runtime_error("thrown across the boundary, as it was told to");
  const int32_t status = sdk::guard(error, [&] {
    if (due) fault.strike();
  });
  return status != MK_OK ? status : function(arguments..., error);
}

int32_t buffer_create(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error) {
  return call("buffer_create", the_backend->host->buffer_create, error, device, bytes, buffer);
}

int32_t queue_create(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error) {
  return call("queue_create", the_backend->host->queue_create, error, device, flags, queue);
}

int32_t copy(mk_queue* queue, const mk_copy* what, mk_event** event, mk_error* error) {
  return call("copy", the_backend->host->copy, error, queue, what, event);
}

void skew(mk_queue* queue, const mk_tensor& out) {
  const mk_backend& host = *the_backend->host;
  const auto* shared = static_cast<const mk_host_pointer*>(host.extension(host.self, "host_pointer_v1"));
  sdk::call(host.finish, queue);
  auto* const values = static_cast<float*>(shared->pointer(out.buffer)) + out.offset;
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) values[r * out.row_stride + c] *= 1.25F;
}

int32_t submit(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error) {
  const int32_t status = call("submit", the_backend->host->submit, error, queue, op, event);
  if (status != MK_OK || the_backend->fault.skewed != mokume::ops::rule(op->code).name) return status;
  return sdk::guard(error, [&] { skew(queue, op->outputs[0]); });
}

// Ops of groups do not pass through submit().
const void* extension(void* self, const char* name) {
  const bool hidden = !the_backend->fault.skewed.empty() && std::string(name) == "group_v2";
  return hidden ? nullptr : the_backend->host->extension(self, name);
}

int32_t finish(mk_queue* queue, mk_error* error) { return call("finish", the_backend->host->finish, error, queue); }

int32_t start(const mk_host* host, const void** table, mk_error* error) {
  return sdk::guard(error, [&] {
    void* library = dlopen((test::libraries() + "/backends/host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Error(MK_INTERNAL, dlerror());
    const auto query = reinterpret_cast<mk_plugin_query>(dlsym(library, MK_PLUGIN_QUERY_SYMBOL));
    if (query == nullptr) throw Error(MK_INTERNAL, dlerror());
    auto backend = std::make_unique<Backend>();
    const void* real = nullptr;
    sdk::call(query(MK_ABI_MAJOR)->start, host, &real);
    backend->host = static_cast<const mk_backend*>(real);
    backend->table = *backend->host;
    backend->table.enumerate = enumerate;
    backend->table.open = open;
    backend->table.buffer_create = buffer_create;
    backend->table.queue_create = queue_create;
    backend->table.copy = copy;
    backend->table.submit = submit;
    backend->table.extension = extension;
    backend->table.finish = finish;
    the_backend = backend.release();
    *table = &the_backend->table;
  });
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_BACKEND, "fault", "the host backend, failing on demand", start)
