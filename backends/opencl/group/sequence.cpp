#include "group/sequence.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "runtime/device.hpp"

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

// Built-in programs side by side in one source: whatever a program names gets a name of its own. Each line of
// kernels/*.cl that names something says so where it begins: with #define, static, __kernel, typedef or the } of a
// struct, or it is a macro that defines a function, whose name it has as its first argument.
class Names {
 public:
  explicit Names(std::string_view source) {
    for (size_t at = 0; at < source.size();) {
      const size_t end = std::min(source.find('\n', at), source.size());
      read_line(source.substr(at, end - at));
      at = end + 1;
    }
  }

  // Of functions and types; of macros.
  const std::set<std::string>& names() const { return names_; }
  const std::set<std::string>& macros() const { return macros_; }

 private:
  static bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool is_name(std::string_view word) { return !word.empty() && word[0] >= 'a' && word[0] <= 'z'; }
  // The identifier that ends before, or begins at, `at`.
  static std::string_view word_before(std::string_view line, size_t at) {
    size_t begin = at;
    while (begin > 0 && is_part(line[begin - 1])) --begin;
    return line.substr(begin, at - begin);
  }
  static std::string_view word_at(std::string_view line, size_t at) {
    size_t end = at;
    while (end < line.size() && is_part(line[end])) ++end;
    return line.substr(at, end - at);
  }

  void read_line(std::string_view line) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    const std::string_view text = line.substr(first);
    if (text.starts_with("#define ")) {
      macros_.emplace(word_at(text, 8));
    } else if (text.starts_with("static ") || text.starts_with("__kernel ")) {
      for (size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1))
        if (const std::string_view name = word_before(text, open); is_name(name)) {
          names_.emplace(name);
          return;
        }
    } else if (first == 0 && line.ends_with(';') && (line.starts_with("typedef ") || line.starts_with("} "))) {
      names_.emplace(word_before(line, line.size() - 1));
    } else if (first == 0 && is_part(line[0]) && line.find('(') != std::string_view::npos) {
      if (const std::string_view name = word_at(line, line.find('(') + 1); is_name(name)) names_.emplace(name);
    }
  }

  std::set<std::string> names_, macros_;
};

// "-DNAME=VALUE -DNAME ..." as lines of C, and the names; other options are left out.
std::string defined(const std::string& options, std::set<std::string>& macros) {
  std::istringstream words(options);
  std::string lines;
  for (std::string word; words >> word;) {
    if (!word.starts_with("-D")) continue;
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    lines += "#define " + name + " " + (equals == std::string::npos ? "1" : word.substr(equals + 1)) + "\n";
    macros.insert(name);
  }
  return lines;
}

// The program of these kernels and, behind it, `functions` that call them, with names that end in `suffix`.
std::string unit_source(mk_device& device, const BuiltIn& program, const std::string& functions,
                        const std::string& suffix) {
  const std::string source = program.source();
  const Names found(source);
  std::set<std::string> macros = found.macros();
  macros.insert("CALLED");
  const std::string defines = "#define CALLED\n" + defined(device.built_in_options(program), macros);
  macros.insert(found.names().begin(), found.names().end());
  std::string before, renamed, after;
  for (const std::string& name : found.names()) renamed += "#define " + name + " " + name + suffix + "\n";
  for (const std::string& name : macros) {  // some may be macros of the driver
    before += "#pragma push_macro(\"" + name + "\")\n";
    after += "#pragma pop_macro(\"" + name + "\")\n";
  }
  return before + defines + renamed + source + functions + after;
}

// A launch of `name` as a loop over its work-items.
std::string function_source(const std::string& function, const std::string& name, std::span<const Argument> arguments) {
  std::string text = "\nvoid " + function + kParameters +
                     " {\n  item_t item;\n  for (int d = 0; d < 3; ++d) item.of[d] = a[2 + d];\n",
              values;
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
         "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequence(__global const long* table, long "
         "first" +
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

// Those that arguments are, NULL among them.
std::vector<cl_mem> memories_of(std::span<const Recording> members) {
  std::vector<cl_mem> memories;
  for (const Recording& member : members)
    for (const Recording::Launch& l : member.launches())
      for (const Argument& a : member.arguments(l)) {
        const auto memory = reinterpret_cast<cl_mem>(a.bits);
        if (a.type == Type::memory && std::find(memories.begin(), memories.end(), memory) == memories.end())
          memories.push_back(memory);
      }
  return memories;
}

}  // namespace

cl_kernel SequencePrograms::kernel(mk_device& device, const std::vector<cl_kernel>& kernels,
                                   std::span<const Recording> members) {
  // A build costs as much as these do, about: seconds, or fractions of one where the driver remembers it.
  constexpr uint64_t kWorthBuilding = 50'000;
  Built& built = built_[kernels];
  for (const Recording& member : members) built.launches += member.launches().size();
  if (built.tried || (built.launches < kWorthBuilding && device.choices.sequence == "worthwhile"))
    return built.kernel.get();
  built.tried = true;
  const auto start = std::chrono::steady_clock::now();
  try {
    // Kernels of one program lie side by side.
    std::vector<std::string> names;
    std::string source;
    for (size_t k = 0, unit = 0; k < kernels.size(); ++unit) {
      const BuiltIn& program = device.origin(kernels[k]).program;
      const std::string suffix = "_" + std::to_string(unit);
      std::string functions;
      for (; k < kernels.size() && device.origin(kernels[k]).program.name == program.name; ++k) {
        const std::string& name = device.origin(kernels[k]).name;
        names.push_back("run_" + name + suffix);
        functions += function_source(names.back(), name, arguments_of(members, kernels[k]));
      }
      source += unit_source(device, program, functions, suffix);
    }
    built.program = build_program(device, "a sequence of kernels", source + sequence_source(names), "-w");
    cl_int code = CL_SUCCESS;
    built.kernel.reset(clCreateKernel(built.program.get(), "sequence", &code));
    check(code, "clCreateKernel of a sequence");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    device.host.log(seconds > 1 ? MK_LOG_INFO : MK_LOG_DEBUG, "opencl",
                    std::to_string(kernels.size()) + " kernels in one for " + device.info.name + ": " +
                        std::to_string(std::llround(1000 * seconds)) + " ms");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks go op by op on ") + device.info.name + ": " + e.what());
    device.choices.sequence = "never";
  }
  return built.kernel.get();
}

int64_t SequenceTables::place(mk_queue& queue, std::span<const int64_t> table) {
  constexpr size_t kLongs = size_t{1} << 18, kTables = 4;  // at least, so that the host is not waited for
  if (mirror_.size() < std::max(used_ + table.size(), kTables * table.size())) {
    finish(queue);  // what is replaced has been read by then
    used_ = 0;
    if (mirror_.size() < kTables * table.size()) {
      mirror_.resize(std::max(kLongs, kTables * table.size()));
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
  const std::vector<cl_mem> memories = memories_of(members);
  if (memories.size() > kSequenceMemories) return false;
  const cl_kernel kernel = device.sequences.kernel(device, kernels, members);
  if (kernel == nullptr) return false;

  const auto place_of = [&](const Argument& argument, size_t member) -> int64_t {
    const auto memory = reinterpret_cast<cl_mem>(argument.bits);
    const auto which = std::find(memories.begin(), memories.end(), memory) - memories.begin();
    return (space.offset(queue, memory, member) << kMemoryBits) | which;
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
  const int64_t first = queue.sequence_tables.place(queue, table);
  std::vector<Argument> arguments{queue.sequence_tables.memory(), first};
  for (size_t m = 0; m < kSequenceMemories; ++m)
    arguments.emplace_back(m < memories.size() && memories[m] != nullptr ? memories[m]
                                                                         : queue.sequence_tables.memory());
  launcher.run(kernel, {static_cast<int64_t>(members.size()), 1, 1}, {1, 1, 1}, std::span<const Argument>(arguments));
  return true;
}

}  // namespace mokume::opencl
