// An open device and what lives on it: buffers, queues, events.
//
// One context per device. A device and everything made from it are used by one thread at a time.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "support/cl.hpp"
#include "group/group.hpp"
#include "runtime/program_cache.hpp"
#include "sdk/plugin.hpp"
#include "group/sequence.hpp"

namespace mokume::opencl {

class ClBlast;

// The recorded choices. Own variants of an op give the same bits as each other, but for those of `conv`; CLBlast's GEMM
// has bits of its own.
struct Choices {
  std::string gemm;  // "vector", "tile" or "clblast"
  std::string conv;  // "winograd" or "patches": see ops_convolution.cpp; they differ within the op's tolerance
  std::string map;   // "vector" or "scalar": kernel_map and every op that touches each element once
  // Whether a core does all ops of a member of a group: "worthwhile", where enough of them come, "always" or "never".
  std::string sequence;
};

// A key of the record, where it is kept, and what it may be.
struct ChoiceKey {
  const char* name;
  std::string Choices::*slot;
  std::array<const char*, 3> values;
};
inline constexpr std::array<ChoiceKey, 4> kChoiceKeys{
    {{"gemm", &Choices::gemm, {"vector", "tile", "clblast"}},
     {"conv", &Choices::conv, {"winograd", "patches", ""}},
     {"map", &Choices::map, {"vector", "scalar", ""}},
     {"sequence", &Choices::sequence, {"worthwhile", "always", "never"}}}};

}  // namespace mokume::opencl

struct mk_device {
  mokume::sdk::Host host;
  std::string cache_directory;  // "" for none
  mokume::opencl::ClBlast* clblast = nullptr;
  mk_device_info info{};
  cl_device_id id = nullptr;
  mokume::opencl::Context context;
  mokume::opencl::Choices choices;
  int vector_width = 4;  // floats of a native vector: 4, 8 or 16
  int64_t cores = 1;     // that share the work of a launch: all there are, or one (sequence.hpp). Decides about no bits

  // The kernel of a built-in program, built on first use.
  cl_kernel kernel(const mokume::opencl::BuiltIn& program, const char* name);

  // Where kernel() took one from.
  struct Origin {
    mokume::opencl::BuiltIn program;
    std::string name;
  };
  const Origin& origin(cl_kernel kernel) const { return origins_.at(kernel); }
  // Of a built-in program, and of what is made of it.
  std::string built_in_options(const mokume::opencl::BuiltIn& program) const;
  // group.cpp's:
  std::map<std::string, mokume::opencl::GroupKernel> group_kernels;
  std::set<int32_t> ungrouped;  // codes of ops of which a group went one by one
  mokume::opencl::SequencePrograms sequences;

 private:
  std::map<std::string, mokume::opencl::KernelSet> programs_;
  std::map<cl_kernel, Origin> origins_;
};

struct mk_buffer {
  mokume::opencl::Memory memory;
  uint64_t bytes = 0;
  uint64_t version = 0;           // another after everything that writes to it; no two buffers ever have the same
  std::byte* in_place = nullptr;  // its memory, where the driver works in what it was given; else nullptr

  void written();
};

struct mk_queue {
  ~mk_queue();  // waits: commands read what it owns

  mk_device* device = nullptr;
  mokume::opencl::CommandQueue handle;
  bool profiling = false;

  // Device memory for the ops of this queue, at least `bytes` large; contents do not outlive the op. Ops on one queue
  // run in order, so they share it; each slot is one such buffer.
  cl_mem workspace(size_t slot, uint64_t bytes) { return workspace_buffer(slot, bytes).memory.get(); }
  mk_buffer& workspace_buffer(size_t slot, uint64_t bytes);

  // Set while the ops of a group are recorded: workspaces then have room for all members, and nothing is kept.
  mokume::opencl::GroupSpace* group = nullptr;
  mokume::opencl::GroupTables group_tables;
  mokume::opencl::SequenceTables sequence_tables;
  const mk_buffer& workspace_at(size_t slot) const { return workspaces_.at(slot); }

  // Memory with what make(memory) computes from a view alone; kept, as far as there is room, until the view's buffer is
  // written to. `what` says what it is, together with the view's place and shape.
  cl_mem kept(const mk_tensor& of, const char* what, uint64_t bytes, const std::function<void(cl_mem)>& make);

 private:
  struct Derived {
    std::string key;
    uint64_t version;  // of the buffer it was made from; no two buffers share one
    uint64_t used;     // the larger, the later
    mk_buffer memory;
  };
  Derived* place_for(const std::string& key, uint64_t bytes);

  std::array<mk_buffer, mokume::opencl::kWorkspaces> workspaces_;
  std::vector<Derived> derived_;
  uint64_t uses_ = 0;
};

// Memory that the driver has mapped for the host, for as long as this lives.
struct mk_host_block {
  mk_queue* queue = nullptr;
  mokume::opencl::Memory memory;
  void* mapped = nullptr;

  ~mk_host_block();
};

// The first and the last command of what it stands for.
struct mk_event {
  mk_queue* queue = nullptr;
  mokume::opencl::EventHandle first, last;
};

namespace mokume::opencl {

// Opens the context. `choices` and `vector_width` are set by choose_variants() (variants.hpp).
std::unique_ptr<mk_device> open_device(const sdk::Host& host, const std::string& cache_directory, ClBlast* clblast,
                                       const mk_device_info& info, cl_platform_id platform, cl_device_id id);

// `bytes` > 0; throws MK_OUT_OF_MEMORY with the sizes if the device cannot hold it.
mk_buffer create_buffer(mk_device& device, uint64_t bytes);
std::unique_ptr<mk_host_block> create_host_block(mk_queue& queue, uint64_t bytes);
std::unique_ptr<mk_queue> create_queue(mk_device& device, uint32_t flags);
// `done` may be NULL.
void enqueue_copy(mk_queue& queue, const mk_copy& copy, cl_event* done);

// Both return when the work is done and throw MK_DEVICE_ERROR if it failed. Neither spins: GPUs' drivers do in
// clFinish and clWaitForEvents, so a callback wakes this thread.
void wait(const mk_queue& queue, cl_event event);
void finish(const mk_queue& queue);

// Work-groups of a launch in each dimension that every card takes: NVIDIA's and AMD's take 65,535 in the second and the
// third. Kernels for GPUs lie along the first dimension or loop.
inline constexpr std::array<int64_t, 3> kMostGroups{2'147'483'647, 65'535, 65'535};

// Enqueues kernels and keeps the first and last event if somebody wants them; or records what it would enqueue.
class Launcher {
 public:
  Launcher(mk_queue& queue, bool want_event) : queue_(queue), want_event_(want_event) {}
  Launcher(mk_queue& queue, Recording& recording) : queue_(queue), want_event_(false), recording_(&recording) {}

  mk_queue& queue() { return queue_; }
  mk_device& device() { return *queue_.device; }

  // Sets the arguments in order and runs the kernel over `global`, each rounded up to a multiple of `local`.
  // Arguments: cl_mem, int64_t as long, int32_t as int, float.
  template <class... Arguments>
  void run(cl_kernel kernel, std::array<int64_t, 3> global, std::array<int64_t, 3> local,
           const Arguments&... arguments) {
    const std::array<Argument, sizeof...(arguments)> list{Argument(arguments)...};
    run(kernel, global, local, std::span<const Argument>(list));
  }

  void run(cl_kernel kernel, const std::array<int64_t, 3>& global, const std::array<int64_t, 3>& local,
           std::span<const Argument> arguments);

  // `local` may be nullptr: the driver's choice. Error(MK_INVALID_ARGUMENT) on any GPU for more than kMostGroups, also
  // where this one would take them.
  void enqueue(cl_kernel kernel, std::array<int64_t, 3> global, const int64_t* local);

  // Lets a library enqueue: `body` is given where its event belongs, or NULL.
  template <class Body>
  void enqueue_foreign(Body&& body) {
    if (recording_ != nullptr) return recording_->refuse();
    cl_event event = nullptr;
    body(want_event_ ? &event : nullptr);
    keep(event);
  }

  // The event of everything enqueued so far; a marker if nothing was.
  std::unique_ptr<mk_event> take_event();

 private:
  void keep(cl_event event);  // takes ownership
  static void set(cl_kernel kernel, cl_uint index, const Argument& argument);

  mk_queue& queue_;
  bool want_event_;
  Recording* recording_ = nullptr;
  EventHandle first_, last_;
};

}  // namespace mokume::opencl
