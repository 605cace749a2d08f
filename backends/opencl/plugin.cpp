// The opencl backend drives every OpenCL platform of the machine.
#include "gemm/clblast.hpp"
#include "group/group.hpp"
#include "ops.hpp"
#include "platforms/platforms.hpp"
#include "runtime/copy.hpp"
#include "runtime/device.hpp"
#include "runtime/host_block.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/wait.hpp"
#include "sdk/backend.hpp"
#include "strict/strict.hpp"
#include "units/units.hpp"
#include "variants/variants.hpp"

namespace mokume::opencl {
namespace {

cl_event last_of(const mk_event& event) { return event.last ? event.last.get() : event.first.get(); }

std::unique_ptr<mk_event> event_of(Launcher& launcher, bool wanted) { return wanted ? launcher.take_event() : nullptr; }

class Backend {
 public:
  explicit Backend(const sdk::Host& host) : host_(host), platforms_(host_) {}

  const std::vector<mk_device_info>& devices() { return platforms_.devices(); }

  std::unique_ptr<mk_device> open(uint32_t index, std::span<const mk_choice> choices) {
    const DeviceHandle handle = platforms_.handle(index);
    const Choices given = choose_units(host_, devices()[index], given_choices(choices),
                                       [&](const UnitProbe& probe) { return platforms_.try_units(index, probe); });
    auto opened =
        open_device(host_, platforms_.cache_directory(), &clblast_, devices()[index], handle.platform, handle.device);
    choose_variants(*opened, given);
    if (opened->choices.strict()) require_strict(*opened);
    return opened;
  }

  static std::vector<sdk::Choice> choices(const mk_device& device) {
    std::vector<sdk::Choice> made;
    for (const VariantSet* set : variant_sets()) made.push_back({set->key, device.choices.*set->slot});
    return made;
  }

  static std::unique_ptr<mk_buffer> create_buffer(mk_device& device, uint64_t bytes) {
    return std::make_unique<mk_buffer>(opencl::create_buffer(device, bytes));
  }

  static std::unique_ptr<mk_queue> create_queue(mk_device& device, bool profiling) {
    return opencl::create_queue(device, profiling);
  }

  static std::unique_ptr<mk_event> copy(mk_queue& queue, const mk_copy& copy, bool want_event) {
    Launcher launcher(queue, want_event);
    launcher.enqueue_foreign([&](cl_event* done) { enqueue_copy(queue, copy, done); });
    return event_of(launcher, want_event);
  }

  static std::unique_ptr<mk_event> submit(mk_queue& queue, const mk_op& op, bool want_event) {
    Launcher launcher(queue, want_event);
    opencl::submit(launcher, op);
    return event_of(launcher, want_event);
  }

  static int32_t supports(const mk_device& device, const mk_op& op) {
    return opencl::supports(device, op) ? MK_SUPPORT_YES : MK_SUPPORT_NO;
  }

  static void wait(mk_event& event) { opencl::wait(*event.queue, last_of(event)); }

  static std::array<uint64_t, 2> time_ns(const mk_event& event) {
    if (!event.queue->profiling)
      throw Error(MK_INVALID_ARGUMENT, "opencl: only queues created with MK_QUEUE_PROFILING record times");
    const auto time = [](cl_event of, cl_profiling_info what) {
      cl_ulong ns = 0;
      check(clGetEventProfilingInfo(of, what, sizeof(ns), &ns, nullptr), "clGetEventProfilingInfo");
      return uint64_t{ns};
    };
    return {time(event.first.get(), CL_PROFILING_COMMAND_START), time(last_of(event), CL_PROFILING_COMMAND_END)};
  }

  static void finish(mk_queue& queue) { opencl::finish(queue); }

  static const void* extension(std::string_view name);

 private:
  sdk::Host host_;
  Platforms platforms_;
  ClBlast clblast_;
};

int32_t submit_group(mk_queue* queue, const mk_op* const* ops, uint32_t members, uint32_t each, mk_event** event,
                     mk_error* error) {
  return sdk::guard(error, [&] {
    Launcher launcher(*queue, event != nullptr);
    opencl::submit_group(launcher, {ops, members}, each);
    if (event != nullptr) *event = launcher.take_event().release();
  });
}

int32_t host_memory_create(mk_queue* queue, uint64_t bytes, mk_host_block** block, void** memory, mk_error* error) {
  return sdk::guard(error, [&] {
    auto made = create_host_block(*queue, bytes);
    *memory = made->mapped;
    *block = made.release();
  });
}

void host_memory_destroy(mk_host_block* block) { delete block; }

const void* Backend::extension(std::string_view name) {
  static constexpr mk_host_memory kHostMemory = {sizeof(mk_host_memory), 0, host_memory_create, host_memory_destroy};
  static constexpr mk_group kGroup = {sizeof(mk_group), 0, submit_group};
  if (name == "kernel_source_v1") return kernel_source_table();
  if (name == "group_v2") return &kGroup;
  if (name == "host_memory_v1") return &kHostMemory;
  return nullptr;
}

}  // namespace
}  // namespace mokume::opencl

MOKUME_BACKEND(mokume::opencl::Backend, "opencl", "GPUs and CPUs of every vendor through OpenCL")
