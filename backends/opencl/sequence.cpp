#include "sequence.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <utility>

#include "device.hpp"

namespace mokume::opencl {
namespace {

using Type = Argument::Type;

// A table, in longs: for each member where its launches begin. A launch: the kernel's number from 1, how many longs it
// takes, work-items in three dimensions, arguments. Behind the last one comes 0.
constexpr size_t kHead = 5;
constexpr int kMemoryBits = 6;  // of the argument that is a place in a memory: which one, and above it how far in bytes
static_assert(kSequenceMemories == 1U << kMemoryBits);

std::string decoded(Type type, const std::string& value) {
  switch (type) {
    case Type::memory:
      return "memory[" + value + " & " + std::to_string(kSequenceMemories - 1) + "] + (" + value + " >> " +
             std::to_string(kMemoryBits) + ")";
    case Type::local:
    case Type::i64:
      return value;
    case Type::i32:
    case Type::u32:
      return "(" + std::string(type_name(type)) + ")" + value;
    case Type::f32:
      return "as_float((uint)" + value + ")";
  }
  return "";
}

int64_t encoded(const Argument& argument) {
  switch (argument.type) {
    case Type::memory:
    case Type::local:
    case Type::i64:
      break;
    case Type::i32:
    case Type::u32:
    case Type::f32:
      return static_cast<int64_t>(static_cast<uint32_t>(argument.bits));
  }
  return static_cast<int64_t>(argument.bits);
}

constexpr const char* kParameters = "(__global const long* restrict a, __global char* const* memory)";

// A name that says which kernel of which program it is, for every function there may be.
std::string function_name(const mk_device::Origin& origin) {
  std::string name = origin.name + "_of_" + origin.program.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

// A launch of `name` as a loop over its work-items.
std::string function_source(const std::string& function, const std::string& name,
                            std::span<const Argument> arguments) {
  std::string text = "\nvoid " + function + kParameters +
                     " {\n  item_t item;\n  for (int d = 0; d < 3; ++d) item.of[d] = a[2 + d];\n", values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string index = std::to_string(i), value = "a[" + std::to_string(kHead + i) + "]";
    text += std::string("  ") + type_name(arguments[i].type) + " const v" + index + " = " +
            decoded(arguments[i].type, value) + ";\n";
    values += ", v" + index;
  }
  return text +
         "  for (item.at[2] = 0; item.at[2] < item.of[2]; ++item.at[2])\n"
         "    for (item.at[1] = 0; item.at[1] < item.of[1]; ++item.at[1])\n"
         "      for (item.at[0] = 0; item.at[0] < item.of[0]; ++item.at[0]) " +
         name + "(item" + values + ");\n}\n";
}

std::string sequence_source(const std::vector<std::string>& functions) {
  std::string declared, memories, list, cases;
  for (size_t k = 0; k < functions.size(); ++k) {
    declared += "void " + functions[k] + kParameters + ";\n";
    cases += "      case " + std::to_string(k + 1) + ":\n        " + functions[k] + "(a, memory);\n        break;\n";
  }
  for (size_t m = 0; m < kSequenceMemories; ++m) {
    memories += ", __global char* m" + std::to_string(m);
    list += (m == 0 ? "m" : ", m") + std::to_string(m);
  }
  return declared +
         "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequence(__global const long* table, long first" +
         memories + ") {\n  __global char* const memory[] = {" + list +
         "};\n  __global const long* a = table + first;\n  a += a[get_global_id(0)];\n"
         "  for (; a[0] != 0; a += a[1]) switch (a[0]) {\n" +
         cases + "    }\n}\n";
}

std::span<const Argument> arguments_of(std::span<const Recording> members, cl_kernel kernel) {
  for (const Recording& member : members)
    for (const Recording::Launch& l : member.launches())
      if (l.kernel == kernel) return member.arguments(l);
  throw Error(MK_INTERNAL, "a sequence calls a kernel that it was not recorded with");
}

// The kernels of all members' launches, each once; empty where some launch cannot be one of a sequence.
std::vector<cl_kernel> kernels_of(std::span<const Recording> members) {
  std::vector<cl_kernel> kernels;
  for (const Recording& member : members) {
    if (member.refused()) return {};
    for (const Recording::Launch& l : member.launches()) {
      const auto arguments = member.arguments(l);
      const auto is_local = [](const Argument& a) { return a.type == Type::local; };
      if (l.local != std::array<int64_t, 3>{1, 1, 1} || std::any_of(arguments.begin(), arguments.end(), is_local))
        return {};
      if (std::find(kernels.begin(), kernels.end(), l.kernel) == kernels.end()) kernels.push_back(l.kernel);
    }
  }
  return kernels;
}

}  // namespace

cl_program SequencePrograms::unit(mk_device& device, cl_kernel kernel, std::span<const Recording> members,
                                  const std::string& function) {
  Program& made = units_[function];
  if (!made) {
    const mk_device::Origin& origin = device.origin(kernel);
    made = compile_program(device, function,
                           called_source(origin.program) +
                               function_source(function, origin.name, arguments_of(members, kernel)),
                           device.built_in_options(origin.program));
  }
  return made.get();
}

cl_kernel SequencePrograms::kernel(mk_device& device, const std::vector<cl_kernel>& kernels,
                                   std::span<const Recording> members) {
  // A build costs as much as these do, about: seconds, or fractions of one where the driver remembers it.
  constexpr uint64_t kWorthBuilding = 20'000;
  Built& built = built_[kernels];
  for (const Recording& member : members) built.launches += member.launches().size();
  if (built.tried || (built.launches < kWorthBuilding && device.choices.sequence == "worthwhile"))
    return built.kernel.get();
  built.tried = true;
  try {
    std::vector<std::string> functions;
    std::vector<cl_program> units;
    for (const cl_kernel k : kernels) {
      functions.push_back(function_name(device.origin(k)));
      units.push_back(unit(device, k, members, functions.back()));
    }
    const Program calls = compile_program(device, "sequence", sequence_source(functions), "-w");
    units.push_back(calls.get());
    built.program = link_programs(device, "sequence", units);
    cl_int code = CL_SUCCESS;
    built.kernel.reset(clCreateKernel(built.program.get(), "sequence", &code));
    check(code, "clCreateKernel of a sequence");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks go op by op on ") + device.info.name + ": " + e.what());
  }
  return built.kernel.get();
}

int64_t SequenceTables::place(mk_queue& queue, std::span<const int64_t> table) {
  constexpr size_t kLongs = size_t{1} << 18;
  if (mirror_.size() < used_ + table.size()) {
    finish(queue);  // what is replaced has been read by then
    used_ = 0;
    if (mirror_.size() < table.size()) {
      mirror_.resize(std::max(kLongs, table.size()));
      cl_int code = CL_SUCCESS;
      memory_.reset(clCreateBuffer(queue.device->context.get(), CL_MEM_READ_ONLY, mirror_.size() * sizeof(int64_t),
                                   nullptr, &code));
      check(code, "a table of launches");
    }
  }
  std::copy(table.begin(), table.end(), mirror_.begin() + static_cast<std::ptrdiff_t>(used_));
  check(clEnqueueWriteBuffer(queue.handle.get(), memory_.get(), CL_FALSE, used_ * sizeof(int64_t),
                             table.size() * sizeof(int64_t), mirror_.data() + used_, 0, nullptr, nullptr),
        "a table of launches");
  return static_cast<int64_t>(std::exchange(used_, used_ + table.size()));
}

bool run_sequences(Launcher& launcher, std::span<const Recording> members, const GroupSpace& space) {
  mk_queue& queue = launcher.queue();
  mk_device& device = launcher.device();
  std::vector<cl_kernel> kernels = kernels_of(members);
  if (kernels.empty()) return false;
  // In an order that does not depend on what came first, for the driver's cache.
  std::sort(kernels.begin(), kernels.end(), [&](cl_kernel a, cl_kernel b) {
    const mk_device::Origin &x = device.origin(a), &y = device.origin(b);
    return std::tie(x.program.name, x.name) < std::tie(y.program.name, y.name);
  });
  const cl_kernel kernel = device.sequences.kernel(device, kernels, members);
  if (kernel == nullptr) return false;

  std::vector<cl_mem> memories;
  const auto place_of = [&](const Argument& argument, size_t member) -> int64_t {
    const auto memory = reinterpret_cast<cl_mem>(argument.bits);
    size_t m = 0;
    while (m < memories.size() && memories[m] != memory) ++m;
    if (m == memories.size()) memories.push_back(memory);
    int64_t offset = 0;
    for (size_t slot = 0; slot < kWorkspaces; ++slot)
      if (memory != nullptr && memory == queue.workspace_at(slot).memory.get())
        offset = static_cast<int64_t>(member * space.each[slot]);
    return (offset << kMemoryBits) | static_cast<int64_t>(m);
  };
  std::vector<int64_t>& table = queue.sequence_tables.values;
  table.assign(members.size(), 0);
  for (size_t m = 0; m < members.size(); ++m) {
    table[m] = static_cast<int64_t>(table.size());
    for (const Recording::Launch& l : members[m].launches()) {
      const auto number = std::find(kernels.begin(), kernels.end(), l.kernel) - kernels.begin() + 1;
      table.insert(table.end(), {number, static_cast<int64_t>(kHead + l.count), l.global[0], l.global[1], l.global[2]});
      for (const Argument& a : members[m].arguments(l))
        table.push_back(a.type == Type::memory ? place_of(a, m) : encoded(a));
    }
    table.push_back(0);
  }
  if (memories.size() > kSequenceMemories) return false;
  const int64_t first = queue.sequence_tables.place(queue, table);
  std::vector<Argument> arguments{queue.sequence_tables.memory(), first};
  for (size_t m = 0; m < kSequenceMemories; ++m)
    arguments.emplace_back(m < memories.size() && memories[m] != nullptr ? memories[m]
                                                                         : queue.sequence_tables.memory());
  launcher.run(kernel, {static_cast<int64_t>(members.size()), 1, 1}, {1, 1, 1}, std::span<const Argument>(arguments));
  return true;
}

}  // namespace mokume::opencl
