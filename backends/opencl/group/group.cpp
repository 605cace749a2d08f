#include "group/group.hpp"

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/grid.hpp"
#include "group/repeated.hpp"
#include "group/sequence.hpp"
#include "group/tables.hpp"
#include "ops.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// Holds a kernel generated for groups, or nothing if the driver cannot build it.
struct GroupKernel {
  Program program;
  std::unique_ptr<LibraryKernel> kernel;
};

// Holds the state that is attached to a device.
struct GroupPrograms {
  std::map<std::pair<const LibraryKernel*, std::array<int64_t, 3>>, GroupKernel> kernels;  // keyed by kernel and group
  std::set<int32_t> ungrouped;  // codes of ops whose members ran separately
};

// Holds the state that is attached to a queue: the differences between the members' arguments, which repeat from step
// to step, and memory that the next step reuses.
class GroupMemory {
 public:
  cl_mem tables() const { return tables_.memory(); }
  // Returns the offset of `table` in tables(), in longs.
  int64_t find_or_write(mk_queue& queue, std::span<const int64_t> table) {
    const std::string key(reinterpret_cast<const char*>(table.data()), table.size_bytes());
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const uint64_t round = tables_.round();
    const int64_t at = tables_.write(queue, table);
    if (tables_.round() != round) known_.clear();
    known_.emplace(key, at);
    return at;
  }

  std::vector<Recording> recordings;
  Sequence sequence;  // the sequence of the last group
  std::vector<int64_t> differences;
  std::vector<std::byte> values;
  std::vector<cl_mem> buffers;

 private:
  Tables tables_;
  std::unordered_map<std::string, int64_t> known_;  // keyed by the bytes of the values
};

// Returns the source of a kernel that calls the launch's kernel for the member that the third dimension selects, in
// which each member has an extent of `depth`. `more` holds the differences between a member's arguments and the first
// member's: bytes for each buffer, then the longs of the struct. (Adding whole longs is exact for all fields.)
std::string group_source(const Recording::Launch& l) {
  const std::string n_words = std::to_string(l.n_words);
  std::string parameters, values, sums;
  for (size_t i = 0; i < l.n_buffers; ++i) {
    const std::string index = std::to_string(i);
    parameters += "__global char* b" + index + ", ";
    values += ", (__global void*)(b" + index + " + more[" + index + "])";
  }
  for (size_t i = 0; i < l.n_words; ++i)
    sums += "  member.words[" + std::to_string(i) + "] += more[" + std::to_string(l.n_buffers + i) + "];\n";
  const std::array<int64_t, 3>& local = l.range.local;
  const std::string group =
      std::to_string(local[0]) + ", " + std::to_string(local[1]) + ", " + std::to_string(local[2]);
  const bool shared = l.local_floats > 0;
  return std::string("\n#undef __kernel\n#undef get_global_id\n#undef get_global_size\ntypedef struct {\n  ") + l.type +
         " args;\n  long table;\n  uint depth, reserved;\n} GroupArgs;\n__kernel __attribute__((reqd_work_group_size(" +
         group + "))) void " + l.kernel->name + "_group(const GroupArgs group, " + parameters +
         "__global const long* more" + (shared ? ", __local float4* shared" : "") +
         ") {\n  const uint third = get_global_id(2);\n  more += group.table + third / group.depth * " +
         std::to_string(l.n_buffers + l.n_words) + ";\n  union {\n    " + l.type + " args;\n    long words[" + n_words +
         "];\n  } member;\n  member.args = group.args;\n" + sums +
         "  const item_t item = {{get_global_id(0), get_global_id(1), third % group.depth},"
         " {get_global_size(0), get_global_size(1), group.depth}};\n  " +
         l.kernel->name + "(item, member.args" + values + (shared ? ", (__local void*)shared" : "") + ");\n}\n";
}

// Holds the fields after the member's struct in GroupArgs.
struct GroupTail {
  int64_t table;
  uint32_t depth, reserved;
};

std::string text(const std::array<int64_t, 3>& sizes) {
  std::string all;
  for (const int64_t size : sizes) all += " " + std::to_string(size);
  return all;
}

// Returns nullptr if the driver cannot build the kernel; the members then run separately.
const LibraryKernel* group_kernel(mk_device& device, const Recording::Launch& launch) {
  const BuiltIn& program = *launch.kernel->program;
  const std::pair key(launch.kernel, launch.range.local);
  auto& kernels = device.attachments.get<GroupPrograms>().kernels;
  const auto found = kernels.find(key);
  if (found != kernels.end()) return found->second.kernel.get();
  GroupKernel& made = kernels[key];
  try {
    made.program = build_program(device, program.name + " " + launch.kernel->name + text(launch.range.local),
                                 called_source(program) + group_source(launch), device.built_in_options(program));
    made.kernel = std::make_unique<LibraryKernel>(made.program.get(), nullptr, launch.kernel->name + "_group");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks run one after the other on ") + device.info.name + ": " + e.what());
  }
  return made.kernel.get();
}

bool same_but_for_values(const Recording& a, const Recording& b) {
  if (a.launches().size() != b.launches().size()) return false;
  for (size_t l = 0; l < a.launches().size(); ++l) {
    const Recording::Launch &x = a.launches()[l], &y = b.launches()[l];
    if (x.kernel != y.kernel || x.range != y.range || x.type != y.type || x.local_floats != y.local_floats ||
        !std::ranges::equal(a.buffers(x), b.buffers(y)))
      return false;
  }
  return true;
}

class Group {
 public:
  Group(Launcher& launcher, std::span<const mk_op* const> members, size_t each)
      : launcher_(launcher),
        queue_(launcher.queue()),
        memory_(queue_.attachments.get<GroupMemory>()),
        ops_(members),
        each_(each),
        space_{members.size()} {}

  // Runs all ops of the members in one launch if that is possible and worthwhile: each member on one core. A single op
  // does not qualify, because a profile times it or it is too little work.
  bool run_sequences() {
    mk_device& device = *queue_.device;
    if (device.info.kind != MK_DEVICE_CPU || !uses_vectors(device) || device.choices.sequence == "never") return false;
    if (device.choices.sequence != "always" && each_ == 1) return false;
    if (ops_.size() == 1) return run_alone();
    if (device.choices.sequence != "always" && !keep_cores_busy()) return false;
    return prepare(1, memory_.sequence) && run_sequence(launcher_, memory_.sequence);
  }

  // Runs op k of every member in one launch, if possible.
  bool run_together(size_t k) {
    const auto same_code = [&](size_t m) { return ops_[m][k].code == ops_[0][k].code; };
    for (size_t m = 1; m < ops_.size(); ++m)
      if (!same_code(m)) return false;
    if (!record(k, 1)) return false;
    for (size_t m = 1; m < ops_.size(); ++m)
      if (!same_but_for_values(first(), recordings()[m])) return false;
    const std::vector<Recording::Launch>& launches = first().launches();
    std::vector<const LibraryKernel*> kernels;
    for (const Recording::Launch& l : launches) {
      if (l.range.local[2] != 1 || l.range.global[2] * members() > kMostGroups[2]) return false;
      kernels.push_back(group_kernel(*queue_.device, l));
      if (kernels.back() == nullptr) return false;
    }
    for (size_t l = 0; l < launches.size(); ++l) launch(*kernels[l], l);
    return true;
  }

  // Returns whether the last attempt failed because a launch belongs to a library and cannot be recorded.
  bool in_library() const { return in_library_; }

 private:
  // Runs the ops of the only member on one core or more, according to its work.
  bool run_alone() {
    RepeatedSequence& repeated = queue_.attachments.get<RepeatedSequence>();
    const std::span<const mk_op> ops(ops_[0], each_);
    if (!repeated.holds(queue_, ops)) {
      repeated.forget();
      const int64_t threads = threads_for_small_ops();
      if (threads == 0 || !prepare(threads, repeated.sequence())) return false;
      repeated.hold(queue_, ops, space_);
    }
    return run_sequence(launcher_, repeated.sequence());
  }

  // Returns 0 if launches cost little compared with the ops, or if the device's cores cannot share a sequence.
  int64_t threads_for_small_ops() const {
    constexpr double kSmallOp = 2e7, kThread = 1.5e6;  // floating-point operations, as for the host backend
    const double flops = flops_of_member();
    if (flops > kSmallOp * static_cast<double>(each_)) return 0;
    const auto wanted = static_cast<int64_t>(std::ceil(flops / kThread));
    const int64_t threads = std::clamp<int64_t>(wanted, 1, std::min(queue_.device->cores, kMostThreads));
    return threads > 1 && !has_threads(*queue_.device) ? 0 : threads;
  }

  bool prepare(int64_t threads, Sequence& sequence) {
    struct Scope {
      mk_device& device;
      int64_t cores;
      ~Scope() { device.cores = cores; }
    } const scope{*queue_.device, std::exchange(queue_.device->cores, threads)};
    return record(0, each_) && prepare_sequence(launcher_, recordings().first(ops_.size()), space_, threads, sequence);
  }

  double flops_of_member() const {
    double flops = 0;
    for (size_t k = 0; k < each_; ++k) flops += ops::rule(ops_[0][k].code).cost(ops_[0][k]).flops;
    return flops;
  }

  // Returns whether cores that wait without a member cost less than launches that all cores share.
  bool keep_cores_busy() const {
    constexpr double kLittleWaste = 1.2, kSmallOp = 2e6;  // kSmallOp operations take tens of microseconds
    const auto cores = static_cast<double>(queue_.device->cores), count = static_cast<double>(members());
    if (count < cores) return false;
    if (std::ceil(count / cores) * cores / count <= kLittleWaste) return true;
    return flops_of_member() <= kSmallOp * static_cast<double>(each_);
  }

  std::span<Recording> recordings() { return memory_.recordings; }
  const Recording& first() { return recordings().front(); }
  int64_t members() const { return static_cast<int64_t>(ops_.size()); }

  // Records ops [k, k + count) of every member. Returns false if this is impossible.
  bool record(size_t k, size_t count) {
    if (recordings().size() < ops_.size()) memory_.recordings.resize(ops_.size());
    struct Scope {
      mk_queue& queue;
      ~Scope() { queue.workspaces.members = nullptr; }
    } const scope{queue_};
    queue_.workspaces.members = &space_;
    in_library_ = false;
    space_ = MemberSpace{ops_.size()};
    if (ops_.size() == 1) note_outputs();
    // Records again with the final memory if a workspace had to grow.
    do {
      space_.grew = false;
      for (size_t m = 0; m < ops_.size() && !space_.grew; ++m) {
        Recording& recording = recordings()[m];
        recording.clear();
        Launcher recorder(queue_, recording);
        for (size_t i = 0; i < count; ++i) opencl::run(recorder, ops_[m][k + i]);
        in_library_ = in_library_ || recording.refused();
        if (space_.too_large || space_.lacks_kept || in_library_) return false;
      }
    } while (space_.grew);
    return true;
  }

  void note_outputs() {
    for (size_t k = 0; k < each_; ++k)
      for (uint32_t o = 0; o < ops_[0][k].n_outputs; ++o) space_.outputs.push_back(ops_[0][k].outputs[o].buffer);
  }

  void launch(const LibraryKernel& kernel, size_t index) {
    const Recording::Launch& l = first().launches()[index];
    const std::span<const cl_mem> buffers = first().buffers(l);
    const std::span<const int64_t> base = first().words(l);
    memory_.differences.clear();
    for (size_t m = 0; m < ops_.size(); ++m) {
      for (const cl_mem buffer : buffers) memory_.differences.push_back(queue_.workspaces.offset(space_, buffer, m));
      const Recording& member = recordings()[m];
      for (size_t i = 0; const int64_t word : member.words(member.launches()[index]))
        memory_.differences.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(word) - static_cast<uint64_t>(base[i++])));
    }
    const int64_t table = memory_.find_or_write(queue_, memory_.differences);
    const GroupTail tail{table, static_cast<uint32_t>(l.range.global[2]), 0};
    const std::span<const std::byte> values = std::as_bytes(base), more = std::as_bytes(std::span(&tail, 1));
    memory_.values.assign(values.begin(), values.end());
    memory_.values.insert(memory_.values.end(), more.begin(), more.end());
    memory_.buffers.assign(buffers.begin(), buffers.end());
    memory_.buffers.push_back(memory_.tables());
    Range range = l.range;
    range.global[2] *= members();
    launcher_.run(kernel, range, Arguments{"GroupArgs", memory_.values, memory_.buffers, l.local_floats});
  }

  Launcher& launcher_;
  mk_queue& queue_;
  GroupMemory& memory_;
  std::span<const mk_op* const> ops_;  // one array of ops for each member
  size_t each_;
  MemberSpace space_;
  bool in_library_ = false;
};

}  // namespace

void submit_group(Launcher& launcher, std::span<const mk_op* const> members, size_t each) {
  mk_device& device = launcher.device();
  for (const mk_op* ops : members)
    for (size_t k = 0; k < each; ++k) mark_written(ops[k]);
  Group group(launcher, members, each);
  if (group.run_sequences()) return;
  for (size_t k = 0; k < each; ++k) {
    // Kept results may have been computed from the old contents of these outputs (see mk_queue::kept()).
    for (const mk_op* ops : members) mark_written(ops[k]);
    if (members.size() > 1) {
      if (group.run_together(k)) continue;
      // Separate runs cost time, so this is logged, unless the launches belong to a library.
      const int32_t code = members.front()[k].code;
      if (!group.in_library() && device.attachments.get<GroupPrograms>().ungrouped.insert(code).second)
        device.host.log(MK_LOG_DEBUG, "opencl",
                        std::string(ops::rule(code).name) + ": the members of a group run one by one");
    }
    for (const mk_op* ops : members) run(launcher, ops[k]);
  }
}

}  // namespace mokume::opencl
