#include "group/group.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/device.hpp"
#include "ops.hpp"
#include "sdk/ops.hpp"
#include "group/sequence.hpp"
#include "common/grid.hpp"

namespace mokume::opencl {
namespace {

using Type = Argument::Type;

// Argument i of the op's kernel, for a member: bits are added, so that a difference of 0 is any value unchanged.
std::string of_member(Type type, const std::string& i) {
  switch (type) {
    case Type::memory:
      return "(__global void*)((__global char*)a" + i + " + more[" + i + "])";
    case Type::local:
      return "a" + i;
    case Type::i64:
      return "a" + i + " + more[" + i + "]";
    case Type::i32:
    case Type::u32:
      return "a" + i + " + (" + type_name(type) + ")more[" + i + "]";
    case Type::f32:
      return "as_float(as_uint(a" + i + ") + (uint)more[" + i + "])";
  }
  return "";
}

// `name` called for the member in the third dimension, where each has an extent of `depth`.
std::string group_source(const std::string& name, std::span<const Argument> arguments,
                         const std::array<int64_t, 3>& local) {
  std::string parameters, values, group;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string index = std::to_string(i);
    parameters += std::string(type_name(arguments[i].type)) + " a" + index + ", ";
    values += (i == 0 ? "" : ", ") + of_member(arguments[i].type, index);
  }
  for (const int64_t size : local) group += (group.empty() ? "" : ", ") + std::to_string(size);
  return "\n#undef __kernel\n#undef get_global_id\n#undef get_global_size\n__kernel "
         "__attribute__((reqd_work_group_size(" +
         group + "))) void " + name + "_group(" + parameters +
         "__global const long* more, long table, uint depth) {\n"
         "  const uint third = get_global_id(2);\n  more += table + third / depth * " +
         std::to_string(arguments.size()) +
         ";\n  const item_t item = {{get_global_id(0), get_global_id(1), third % depth},"
         " {get_global_size(0), get_global_size(1), depth}};\n  " +
         name + "(item, " + values + ");\n}\n";
}

std::string text(const std::array<int64_t, 3>& sizes) {
  std::string all;
  for (const int64_t size : sizes) all += " " + std::to_string(size);
  return all;
}

// nullptr where the driver cannot build it: then the members go one by one.
cl_kernel group_kernel(mk_device& device, const Recording::Launch& launch, std::span<const Argument> arguments) {
  const mk_device::Origin& origin = device.origin(launch.kernel);
  const std::string key = origin.program.name + " " + origin.name + text(launch.local);
  const auto found = device.group_kernels.find(key);
  if (found != device.group_kernels.end()) return found->second.kernel.get();
  GroupKernel& made = device.group_kernels[key];
  try {
    made.program =
        build_program(device, key, called_source(origin.program) + group_source(origin.name, arguments, launch.local),
                      device.built_in_options(origin.program));
    cl_int code = CL_SUCCESS;
    made.kernel.reset(clCreateKernel(made.program.get(), (origin.name + "_group").c_str(), &code));
    check(code, "clCreateKernel of " + origin.name + "_group");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks take their turns on ") + device.info.name + ": " + e.what());
  }
  return made.kernel.get();
}

bool is_fixed(Type type) { return type == Type::memory || type == Type::local; }

bool same_but_for_values(const Recording& a, const Recording& b) {
  if (a.launches().size() != b.launches().size()) return false;
  for (size_t l = 0; l < a.launches().size(); ++l) {
    const Recording::Launch &x = a.launches()[l], &y = b.launches()[l];
    if (x.kernel != y.kernel || x.global != y.global || x.local != y.local || x.count != y.count) return false;
    const auto theirs = b.arguments(y);
    for (size_t i = 0; const Argument& mine : a.arguments(x)) {
      const Argument& other = theirs[i++];
      if (mine.type != other.type || (is_fixed(mine.type) && mine.bits != other.bits)) return false;
    }
  }
  return true;
}

class Group {
 public:
  Group(Launcher& launcher, std::span<const mk_op* const> members, size_t each)
      : launcher_(launcher), queue_(launcher.queue()), ops_(members), each_(each), space_{members.size()} {}

  // All ops of a member on one core. A single one is what a profile times, or little to stay on a core for.
  bool run_sequences() {
    mk_device& device = *queue_.device;
    if (device.info.kind != MK_DEVICE_CPU || !wide(device) || device.choices.sequence == "never") return false;
    if (device.choices.sequence != "always" && (each_ == 1 || !keep_cores_busy())) return false;
    struct Scope {
      mk_device& device;
      int64_t cores;
      ~Scope() { device.cores = cores; }
    } const scope{device, std::exchange(device.cores, 1)};
    return record(0, each_) && opencl::run_sequences(launcher_, recordings().first(ops_.size()), space_);
  }

  // Op k of every member in one launch, if that can be.
  bool run_together(size_t k) {
    const auto same_code = [&](size_t m) { return ops_[m][k].code == ops_[0][k].code; };
    for (size_t m = 1; m < ops_.size(); ++m)
      if (!same_code(m)) return false;
    if (!record(k, 1)) return false;
    for (size_t m = 1; m < ops_.size(); ++m)
      if (!same_but_for_values(first(), recordings()[m])) return false;
    const std::vector<Recording::Launch>& launches = first().launches();
    std::vector<cl_kernel> kernels;
    for (const Recording::Launch& l : launches) {
      if (l.local[2] != 1 || l.global[2] * members() > kMostGroups[2]) return false;
      kernels.push_back(group_kernel(*queue_.device, l, first().arguments(l)));
      if (kernels.back() == nullptr) return false;
    }
    for (size_t l = 0; l < launches.size(); ++l) launch(kernels[l], l);
    return true;
  }

  // Some launch of what was tried last is a library's, which cannot be recorded.
  bool in_library() const { return in_library_; }

 private:
  // Cores that have no member to do wait for the others: that must cost less than launches, in which all cores share.
  bool keep_cores_busy() const {
    constexpr double kLittleWaste = 1.2, kSmallOp = 2e6;  // floating-point operations: some tens of microseconds
    const auto cores = static_cast<double>(queue_.device->cores), count = static_cast<double>(members());
    if (count < cores) return false;
    if (std::ceil(count / cores) * cores / count <= kLittleWaste) return true;
    double flops = 0;
    for (size_t k = 0; k < each_; ++k) flops += ops::rule(ops_[0][k].code).cost(ops_[0][k]).flops;
    return flops <= kSmallOp * static_cast<double>(each_);
  }

  std::span<Recording> recordings() { return queue_.group_tables.recordings; }
  const Recording& first() { return recordings().front(); }
  int64_t members() const { return static_cast<int64_t>(ops_.size()); }

  // Ops k to k + count of every member; false where that cannot be.
  bool record(size_t k, size_t count) {
    if (recordings().size() < ops_.size()) queue_.group_tables.recordings.resize(ops_.size());
    struct Scope {
      mk_queue& queue;
      ~Scope() { queue.group = nullptr; }
    } const scope{queue_};
    queue_.group = &space_;
    in_library_ = false;
    space_ = {ops_.size()};
    // Again with its final memory, where a workspace had to grow.
    do {
      space_.grew = false;
      for (size_t m = 0; m < ops_.size() && !space_.grew; ++m) {
        Recording& recording = recordings()[m];
        recording.clear();
        Launcher recorder(queue_, recording);
        for (size_t i = 0; i < count; ++i) opencl::run(recorder, ops_[m][k + i]);
        in_library_ = in_library_ || recording.refused();
        if (space_.too_large || in_library_) return false;
      }
    } while (space_.grew);
    return true;
  }

  // What member m's argument is more than the first member's.
  int64_t difference(const Argument& base, const Argument& mine, int64_t m) const {
    switch (mine.type) {
      case Type::memory:
        return space_.offset(queue_, reinterpret_cast<cl_mem>(base.bits), static_cast<size_t>(m));
      case Type::local:
        return 0;
      case Type::i64:
        return static_cast<int64_t>(mine.bits - base.bits);
      case Type::i32:
      case Type::u32:
      case Type::f32:
        return static_cast<int64_t>(static_cast<uint32_t>(mine.bits - base.bits));
    }
    return 0;
  }

  void launch(cl_kernel kernel, size_t index) {
    const Recording::Launch& l = first().launches()[index];
    const std::span<const Argument> base = first().arguments(l);
    more_.clear();
    for (int64_t m = 0; m < members(); ++m) {
      const Recording& member = recordings()[static_cast<size_t>(m)];
      for (size_t i = 0; const Argument& mine : member.arguments(member.launches()[index]))
        more_.push_back(difference(base[i++], mine, m));
    }
    const int64_t table = queue_.group_tables.place(queue_, more_);
    arguments_.assign(base.begin(), base.end());
    arguments_.emplace_back(queue_.group_tables.memory());
    arguments_.emplace_back(table);
    arguments_.emplace_back(static_cast<uint32_t>(l.global[2]));
    launcher_.run(kernel, {l.global[0], l.global[1], l.global[2] * members()}, l.local,
                  std::span<const Argument>(arguments_));
  }

  Launcher& launcher_;
  mk_queue& queue_;
  std::span<const mk_op* const> ops_;  // of each member
  size_t each_;
  GroupSpace space_;
  bool in_library_ = false;
  std::vector<int64_t> more_;
  std::vector<Argument> arguments_;
};

}  // namespace

const char* type_name(Type type) {
  switch (type) {
    case Type::memory:
      return "__global void*";
    case Type::local:
      return "__local void*";
    case Type::i64:
      return "long";
    case Type::i32:
      return "int";
    case Type::u32:
      return "uint";
    case Type::f32:
      return "float";
  }
  return "";
}

void Recording::clear() {
  launches_.clear();
  arguments_.clear();
  refused_ = false;
}

void Recording::add(cl_kernel kernel, const std::array<int64_t, 3>& global, const std::array<int64_t, 3>& local,
                    std::span<const Argument> arguments) {
  launches_.push_back({kernel, global, local, arguments_.size(), arguments.size()});
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
}

int64_t GroupSpace::offset(const mk_queue& queue, cl_mem memory, size_t member) const {
  for (size_t slot = 0; slot < kWorkspaces; ++slot)
    if (memory != nullptr && memory == queue.workspace_at(slot).memory.get())
      return static_cast<int64_t>(member * each[slot]);
  return 0;
}

uint64_t GroupSpace::room_for(size_t slot, uint64_t bytes, uint64_t there) {
  constexpr int64_t kPage = 4096;  // no two members write to the same
  each[slot] = std::max(each[slot], static_cast<uint64_t>(round_up(static_cast<int64_t>(bytes), kPage)));
  const uint64_t all = each[slot] * members;
  if (all > kMostBytes) {
    too_large = true;
    return bytes;
  }
  if (all > there) grew = true;
  return all;
}

int64_t GroupTables::place(mk_queue& queue, const std::vector<int64_t>& values) {
  constexpr size_t kLongs = size_t{1} << 17;
  const size_t bytes = values.size() * sizeof(int64_t);
  std::string key(bytes, '\0');
  std::memcpy(key.data(), values.data(), bytes);
  const auto found = places_.find(key);
  if (found != places_.end()) return found->second;
  if (mirror_.size() < used_ + values.size()) {
    finish(queue);  // what is replaced has been read by then
    places_.clear();
    used_ = 0;
    if (mirror_.size() < values.size()) {
      mirror_.resize(std::max(kLongs, values.size()));
      cl_int code = CL_SUCCESS;
      memory_.reset(clCreateBuffer(queue.device->context.get(), CL_MEM_READ_ONLY, mirror_.size() * sizeof(int64_t),
                                   nullptr, &code));
      check(code, "a table of arguments");
    }
  }
  std::copy(values.begin(), values.end(), mirror_.begin() + static_cast<std::ptrdiff_t>(used_));
  check(clEnqueueWriteBuffer(queue.handle.get(), memory_.get(), CL_FALSE, used_ * sizeof(int64_t), bytes,
                             mirror_.data() + used_, 0, nullptr, nullptr),
        "a table of arguments");
  const auto at = static_cast<int64_t>(used_);
  places_.emplace(std::move(key), at);
  used_ += values.size();
  return at;
}

void submit_group(Launcher& launcher, std::span<const mk_op* const> members, size_t each) {
  mk_device& device = launcher.device();
  for (const mk_op* ops : members)
    for (size_t k = 0; k < each; ++k) admit(device, ops[k]);
  Group group(launcher, members, each);
  if (members.size() > 1 && group.run_sequences()) return;
  for (size_t k = 0; k < each; ++k) {
    // Since admit() others may have been computed from what these outputs were until now: see mk_queue::kept().
    for (const mk_op* ops : members)
      for (const mk_tensor& out : std::span(ops[k].outputs, ops[k].n_outputs))
        if (out.buffer != nullptr) out.buffer->written();
    if (members.size() > 1) {
      if (group.run_together(k)) continue;
      // It costs time, so it is worth a word; a library's own launches cannot be had otherwise.
      const int32_t code = members.front()[k].code;
      if (!group.in_library() && device.ungrouped.insert(code).second)
        device.host.log(MK_LOG_DEBUG, "opencl", std::string(ops::rule(code).name) + ": a group goes one by one");
    }
    for (const mk_op* ops : members) run(launcher, ops[k]);
  }
}

}  // namespace mokume::opencl
