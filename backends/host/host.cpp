// The host backend computes every op on this machine's processor, in two versions. Device 0 is the fast path. Device 1
// computes every op plainly, with fp64 sums. It is the oracle against which every backend is tested.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "call.hpp"
#include "convolution/direct.hpp"
#include "device_info.hpp"
#include "fast_table.hpp"
#include "indices.hpp"
#include "isa/isa.hpp"
#include "onednn.hpp"
#include "reference_table.hpp"
#include "rounded.hpp"
#include "sdk/backend.hpp"

namespace mokume::host {
namespace {

constexpr char kIsaKey[] = "host.isa";
constexpr char kGemmKey[] = "host.gemm";
constexpr char kNumericsKey[] = "numerics";

// Holds functions by op code, or null where the folder has no file for the op.
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

uint64_t now_ns() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

template <class Command>
std::unique_ptr<mk_event> timed(const mk_queue& queue, bool want_event, Command&& command) {
  if (!want_event) {
    command();
    return nullptr;
  }
  const uint64_t start = now_ns();
  command();
  return std::make_unique<mk_event>(mk_event{queue.profiling, start, now_ns()});
}

template <size_t N>
std::string_view text(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

bool wants_strict(std::span<const mk_choice> choices) {
  bool strict = false;
  for (const mk_choice& choice : choices) {
    if (text(choice.key) != kNumericsKey) continue;
    const std::string_view value = text(choice.value);
    if (value != "fast" && value != "strict")
      throw Error(MK_INVALID_ARGUMENT,
                  "host: numerics = " + std::string(value) + " is unknown; known values are fast, strict");
    strict = value == "strict";
  }
  return strict;
}

const Loops* apply_choices(std::span<const mk_choice> choices) {
  const Loops* loops = &best_loops();
  for (const mk_choice& choice : choices) {
    const std::string_view key = text(choice.key), value = text(choice.value);
    if (key == kIsaKey) loops = &loops_for(value);
    if (key == kGemmKey && value != onednn_choice())
      throw Error(MK_DEVICE_ERROR, "host.gemm is \"" + std::string(value) + "\", but here it is \"" + onednn_choice() +
                                       "\": start a new run, use machines of one kind, or set DNNL_MAX_CPU_ISA to "
                                       "the smaller instruction set everywhere");
  }
  return loops;
}

void run(const mk_device& device, const Call& call) {
  const auto code = static_cast<size_t>(call.op.code);
  const OpFunction function = device.oracle || kFast[code] == nullptr ? kReference[code] : kFast[code];
  const SubnormalsAreZero here;
  if (sdk::empty(call.op.outputs[0])) return;
  if (device.precision != Precision::fp32 && multiplies(call.op)) return run_rounded(call, function, device.precision);
  function(call);
}

bool run_both(const mk_device& device, const Call& call, const mk_op& next) {
  const SubnormalsAreZero here;
  return !device.oracle && device.precision == Precision::fp32 && convolve_and_normalise(call, next);
}

double flops_of(const mk_op* ops, uint32_t count) {
  double flops = 0;
  for (uint32_t k = 0; k < count; ++k) flops += ops::rule(ops[k].code).cost(ops[k]).flops;
  return flops;
}

int32_t submit_group(mk_queue* queue, const mk_op* const* ops, uint32_t members, uint32_t each, mk_event** event,
                     mk_error* error) {
  return sdk::guard(error, [&] {
    const mk_device& device = *queue->device;
    const auto run_all = [&](ParallelRegion* region) {
      for (uint32_t m = 0; m < members; ++m)
        for (uint32_t k = 0; k < each; ++k) {
          const Call call{ops[m][k], device.host, *device.loops, region, device.strict};
          check_indices(call);
          if (k + 1 < each && run_both(device, call, ops[m][k + 1]))
            ++k;
          else
            run(device, call);
        }
    };
    // A single network must answer soon, so it must not wait for threads to wake between its ops. Several networks mean
    // training, whose ops are long enough, and other devices may use the same cores.
    constexpr double kSmallOp = 2e7, kThread = 1.5e6;  // floating-point operations
    const double flops = members == 1 ? flops_of(ops[0], each) : 0;
    auto done = timed(*queue, event != nullptr, [&] {
      if (members == 1 && flops <= kSmallOp * each)
        ParallelRegion::run(device.host, static_cast<uint32_t>(std::clamp(flops / kThread, 1.0, 1e6)),
                            [&](ParallelRegion& region) { run_all(&region); });
      else
        run_all(nullptr);
    });
    if (event != nullptr) *event = done.release();
  });
}

void* pointer(mk_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->memory; }

// Commands have completed when submit() and copy() return.
class Backend {
 public:
  explicit Backend(const sdk::Host& host) : host_(host) { limit_onednn(); }

  static std::vector<mk_device_info> devices() {
    std::vector<mk_device_info> infos;
    for (uint32_t i = 0; i < kDevices; ++i) infos.push_back(device_info(i));
    return infos;
  }

  std::unique_ptr<mk_device> open(uint32_t index, std::span<const mk_choice> choices) const {
    const bool oracle = index == kOracleDevice;
    const Loops* loops = oracle ? &best_loops() : apply_choices(choices);
    return std::make_unique<mk_device>(
        mk_device{host_, oracle, precision_of(choices), !oracle && wants_strict(choices), loops,
                  device_info(index).max_buffer_bytes});
  }

  // The oracle has no other choices, because it is the same plain C++ everywhere.
  static std::vector<sdk::Choice> choices(const mk_device& device) {
    const sdk::Choice precision{"precision", std::string(name_of(device.precision))};
    if (device.oracle) return {precision};
    if (device.strict) return {precision, {kNumericsKey, "strict"}, {kIsaKey, device.loops->isa}};
    return {precision, {kNumericsKey, "fast"}, {kIsaKey, device.loops->isa}, {kGemmKey, onednn_choice()}};
  }

  static std::unique_ptr<mk_buffer> create_buffer(mk_device& device, uint64_t bytes) {
    const mk_host* host = device.host.table();
    void* memory = bytes <= device.max_buffer_bytes ? host->allocate(host->self, bytes) : nullptr;
    if (memory == nullptr)
      throw Error(MK_OUT_OF_MEMORY, "host: no memory for a buffer of " + std::to_string(bytes) + " bytes");
    return std::make_unique<mk_buffer>(host, static_cast<std::byte*>(memory));
  }

  static std::unique_ptr<mk_queue> create_queue(mk_device& device, bool profiling) {
    return std::make_unique<mk_queue>(mk_queue{&device, profiling});
  }

  static std::unique_ptr<mk_event> copy(mk_queue& queue, const mk_copy& what, bool want_event) {
    const void* from = what.kind == MK_COPY_WRITE ? what.host : what.from->memory + what.from_offset;
    void* to = what.kind == MK_COPY_READ ? what.host : what.to->memory + what.to_offset;
    return timed(queue, want_event, [&] {
      if (what.bytes > 0) std::memcpy(to, from, what.bytes);
    });
  }

  static std::unique_ptr<mk_event> submit(mk_queue& queue, const mk_op& op, bool want_event) {
    const Call call{op, queue.device->host, *queue.device->loops, nullptr, queue.device->strict};
    check_indices(call);
    return timed(queue, want_event, [&] { run(*queue.device, call); });
  }

  static int32_t supports(const mk_device&, const mk_op&) { return MK_SUPPORT_YES; }

  static void wait(mk_event&) {}

  static std::array<uint64_t, 2> time_ns(const mk_event& event) {
    if (!event.profiling) throw Error(MK_INVALID_ARGUMENT, "host: only profiling queues record times");
    return {event.start_ns, event.end_ns};
  }

  static void finish(mk_queue&) {}

  static const void* extension(std::string_view name) {
    static constexpr mk_host_pointer kHostPointer = {sizeof(mk_host_pointer), 0, pointer};
    static constexpr mk_group kGroup = {sizeof(mk_group), 0, submit_group};
    if (name == "host_pointer_v1") return &kHostPointer;
    return name == "group_v2" ? &kGroup : nullptr;
  }

 private:
  sdk::Host host_;
};

}  // namespace
}  // namespace mokume::host

MOKUME_BACKEND(mokume::host::Backend, "host",
               "this machine's processor, with oneDNN and the backend's own loops, and the oracle")
