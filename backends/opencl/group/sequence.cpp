#include "group/sequence.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "group/tables.hpp"
#include "group/unit.hpp"
#include "runtime/device.hpp"

namespace mokume::opencl {
namespace {

// A table of longs holds the start of each member's launches, then the launches. A launch has the kernel's number from
// 1, its length in longs, the work-items in three dimensions, the buffers and the struct. A 0 ends a member's launches.
constexpr size_t kHead = 5;
constexpr size_t kMostBuffers = 64;  // limit for the buffers of a sequence's launches
constexpr int kBufferBits = 6;       // a table stores a buffer's index in these bits and its byte offset above them
static_assert(kMostBuffers == 1U << kBufferBits);

using Kernels = std::vector<const LibraryKernel*>;

struct SequenceProgram {
  uint64_t launches = 0;  // number of launches that requested this program
  bool tried = false;
  Program program;
  std::unique_ptr<LibraryKernel> kernel;
};

// Holds the state that is attached to a device.
struct SequencePrograms {
  std::map<Kernels, SequenceProgram> built;
};

// Holds the state that is attached to a queue.
struct SequenceMemory {
  Tables tables;
  std::vector<int64_t> values;  // reused, so that steps allocate no memory
};

struct SequenceArgs {
  int64_t first;
};

constexpr const char* kParameters = "(__global const long* restrict a, __global char* const* buffers)";

// Returns the source of a function that runs a launch as a loop over its work-items.
std::string function_source(const std::string& function, const Recording::Launch& l) {
  const std::string which = std::to_string(kMostBuffers - 1), bits = std::to_string(kBufferBits);
  std::string text = "\nvoid " + function + kParameters +
                     " {\n  item_t item;\n  for (int d = 0; d < 3; ++d) item.of[d] = a[2 + d];\n  const " + l.type +
                     " args = *(__global const " + l.type + "*)(a + " + std::to_string(kHead + l.n_buffers) + ");\n",
              values;
  for (size_t i = 0; i < l.n_buffers; ++i) {
    const std::string index = std::to_string(i), value = "a[" + std::to_string(kHead + i) + "]";
    text += "  __global void* const b" + index + " = buffers[" + value + " & " + which + "] + (" + value + " >> " +
            bits + ");\n";
    values += ", b" + index;
  }
  return text +
         "  for (item.at[2] = 0; item.at[2] < item.of[2]; ++item.at[2])\n"
         "    for (item.at[1] = 0; item.at[1] < item.of[1]; ++item.at[1])\n"
         "      for (item.at[0] = 0; item.at[0] < item.of[0]; ++item.at[0]) " +
         l.kernel->name + "(item, args" + values + ");\n}\n";
}

std::string sequence_source(const std::vector<std::string>& functions) {
  std::string declared, parameters, list, cases;
  for (size_t k = 0; k < functions.size(); ++k) {
    declared += "void " + functions[k] + kParameters + ";\n";
    cases += "      case " + std::to_string(k + 1) + ":\n        " + functions[k] + "(a, buffers);\n        break;\n";
  }
  for (size_t m = 0; m < kMostBuffers; ++m) {
    parameters += ", __global char* m" + std::to_string(m);
    list += (m == 0 ? "m" : ", m") + std::to_string(m);
  }
  return declared +
         "typedef struct {\n  long first;\n} SequenceArgs;\n"
         "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequence(const SequenceArgs args, "
         "__global const long* table" +
         parameters + ") {\n  __global char* const buffers[] = {" + list +
         "};\n  __global const long* a = table + args.first;\n  a += a[get_global_id(0)];\n"
         "  for (; a[0] != 0; a += a[1]) switch (a[0]) {\n" +
         cases + "    }\n}\n";
}

const Recording::Launch& launch_of(std::span<const Recording> members, const LibraryKernel* kernel) {
  for (const Recording& member : members)
    for (const Recording::Launch& l : member.launches())
      if (l.kernel == kernel) return l;
  throw Error(MK_INTERNAL, "a sequence calls a kernel that it was not recorded with");
}

// Returns the distinct kernels of all members' launches, or nothing if some launch cannot be part of a sequence. The
// order does not depend on the order of the launches, so that the driver can use its cache.
Kernels kernels_of(std::span<const Recording> members) {
  Kernels kernels;
  for (const Recording& member : members) {
    if (member.refused()) return {};
    for (const Recording::Launch& l : member.launches()) {
      if (l.range.local != std::array<int64_t, 3>{1, 1, 1} || l.local_floats > 0) return {};
      if (std::find(kernels.begin(), kernels.end(), l.kernel) == kernels.end()) kernels.push_back(l.kernel);
    }
  }
  std::sort(kernels.begin(), kernels.end(), [&](const LibraryKernel* a, const LibraryKernel* b) {
    return std::tie(a->program->name, a->name) < std::tie(b->program->name, b->name);
  });
  return kernels;
}

// Lists the buffers among the arguments, with NULL for missing buffers.
std::vector<cl_mem> buffers_of(std::span<const Recording> members) {
  std::vector<cl_mem> buffers;
  for (const Recording& member : members)
    for (const Recording::Launch& l : member.launches())
      for (const cl_mem buffer : member.buffers(l))
        if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
  return buffers;
}

std::string source_of(const mk_device& device, const Kernels& kernels, std::span<const Recording> members) {
  std::vector<std::string> names;
  std::string source;
  // Kernels of one program are adjacent.
  for (size_t k = 0, unit = 0; k < kernels.size(); ++unit) {
    const BuiltIn* const program = kernels[k]->program;
    const std::string suffix = "_" + std::to_string(unit);
    std::string functions;
    for (; k < kernels.size() && kernels[k]->program == program; ++k) {
      names.push_back("run_" + kernels[k]->name + suffix);
      functions += function_source(names.back(), launch_of(members, kernels[k]));
    }
    source += unit_source(device, *program, functions, suffix);
  }
  return source + sequence_source(names);
}

// Returns nullptr if the driver cannot build the kernel, or until enough launches have requested it to justify a build.
const LibraryKernel* sequence_kernel(mk_device& device, const Kernels& kernels, std::span<const Recording> members) {
  // A build costs about as much as this many launches: seconds, or a fraction of a second if the driver has cached it.
  constexpr uint64_t kWorthBuilding = 50'000;
  SequenceProgram& made = device.attachments.get<SequencePrograms>().built[kernels];
  for (const Recording& member : members) made.launches += member.launches().size();
  if (made.tried || (made.launches < kWorthBuilding && device.choices.sequence == "worthwhile"))
    return made.kernel.get();
  made.tried = true;
  const auto start = std::chrono::steady_clock::now();
  try {
    made.program = build_program(device, "a sequence of kernels", source_of(device, kernels, members), "");
    made.kernel = std::make_unique<LibraryKernel>(made.program.get(), nullptr, "sequence");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    device.host.log(seconds > 1 ? MK_LOG_INFO : MK_LOG_DEBUG, "opencl",
                    std::to_string(kernels.size()) + " kernels combined into one for " + device.info.name + ": " +
                        std::to_string(std::llround(1000 * seconds)) + " ms");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks run op by op on ") + device.info.name + ": " + e.what());
    device.choices.sequence = "never";
  }
  return made.kernel.get();
}

}  // namespace

bool run_sequences(Launcher& launcher, std::span<const Recording> members, const MemberSpace& space) {
  mk_queue& queue = launcher.queue();
  const Kernels kernels = kernels_of(members);
  if (kernels.empty()) return false;
  std::vector<cl_mem> buffers = buffers_of(members);
  if (buffers.size() > kMostBuffers) return false;
  const LibraryKernel* const kernel = sequence_kernel(launcher.device(), kernels, members);
  if (kernel == nullptr) return false;

  SequenceMemory& memory = queue.attachments.get<SequenceMemory>();
  std::vector<int64_t>& table = memory.values;
  table.assign(members.size(), 0);
  for (size_t m = 0; m < members.size(); ++m) {
    table[m] = static_cast<int64_t>(table.size());
    for (const Recording::Launch& l : members[m].launches()) {
      const auto number = std::find(kernels.begin(), kernels.end(), l.kernel) - kernels.begin() + 1;
      const auto longs = static_cast<int64_t>(kHead + l.n_buffers + l.n_words);
      table.insert(table.end(), {number, longs, l.range.global[0], l.range.global[1], l.range.global[2]});
      for (const cl_mem buffer : members[m].buffers(l)) {
        const auto which = std::find(buffers.begin(), buffers.end(), buffer) - buffers.begin();
        table.push_back((queue.workspaces.offset(space, buffer, m) << kBufferBits) | which);
      }
      const std::span<const int64_t> words = members[m].words(l);
      table.insert(table.end(), words.begin(), words.end());
    }
    table.push_back(0);
  }
  const SequenceArgs args{memory.tables.write(queue, table)};
  // Every buffer argument must be a valid buffer.
  buffers.resize(kMostBuffers, nullptr);
  std::replace(buffers.begin(), buffers.end(), cl_mem{nullptr}, memory.tables.memory());
  buffers.insert(buffers.begin(), memory.tables.memory());
  launcher.run(*kernel, {{static_cast<int64_t>(members.size()), 1, 1}},
               Arguments{"SequenceArgs", std::as_bytes(std::span(&args, 1)), buffers});
  return true;
}

}  // namespace mokume::opencl
