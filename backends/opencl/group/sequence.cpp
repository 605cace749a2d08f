#include "group/sequence.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "group/share.embed.hpp"
#include "group/tables.hpp"
#include "group/unit.hpp"
#include "runtime/device.hpp"

namespace mokume::opencl {

struct SequenceProgram {
  uint64_t launches = 0;  // number of launches that requested this program
  bool tried = false;
  Program program;
  std::unique_ptr<LibraryKernel> kernel;
};

namespace {

// A table of longs holds the start of each member's launches, then the launches. A launch has the kernel's number from
// 1, its length in longs, the work-items in three dimensions, the buffers and the struct. A 0 ends a member's launches.
constexpr size_t kHead = 5;
constexpr size_t kMostBuffers = 64;  // limit for the buffers of a sequence's launches
constexpr int kBufferBits = 6;       // a table stores a buffer's index in these bits and its byte offset above them
static_assert(kMostBuffers == 1U << kBufferBits);

// Holds the state that is attached to a device. A program has a number of parameters for buffers, because each of them
// costs time in every launch.
struct SequencePrograms {
  std::map<std::pair<std::vector<const LibraryKernel*>, size_t>, SequenceProgram> built;
};

// Holds the state that is attached to a queue.
struct SequenceMemory {
  Tables tables;
  Memory state;      // memory in which the threads of share.cl tell each other about their work
  int32_t turn = 0;  // number of the last launch
};

struct SequenceArgs {  // see share.cl
  int64_t first;
  int32_t turn, threads;
};
constexpr size_t kStateInts = 64 + 16 * kMostThreads;  // see share.cl

constexpr const char* kParameters =
    "(__global const long* restrict a, __global char* const* buffers, long first, long end)";

// Returns the source of a function that runs some work-items of a launch in a loop.
std::string function_source(const std::string& function, const Recording::Launch& l) {
  const std::string which = std::to_string(kMostBuffers - 1), bits = std::to_string(kBufferBits);
  std::string text = "\nvoid " + function + kParameters +
                     " {\n  item_t item;\n  for (int d = 0; d < 3; ++d) item.of[d] = a[2 + d];\n"
                     "  item.at[0] = first % item.of[0];\n  item.at[1] = first / item.of[0] % item.of[1];\n"
                     "  item.at[2] = first / item.of[0] / item.of[1];\n  const " +
                     l.type + " args = *(__global const " + l.type + "*)(a + " + std::to_string(kHead + l.n_buffers) +
                     ");\n",
              values;
  for (size_t i = 0; i < l.n_buffers; ++i) {
    const std::string index = std::to_string(i), value = "a[" + std::to_string(kHead + i) + "]";
    text += "  __global void* const b" + index + " = buffers[" + value + " & " + which + "] + (" + value + " >> " +
            bits + ");\n";
    values += ", b" + index;
  }
  return text + "  for (; first < end; ++first) {\n    " + l.kernel->name + "(item, args" + values +
         ");\n    if (++item.at[0] < item.of[0]) continue;\n    item.at[0] = 0;\n"
         "    if (++item.at[1] < item.of[1]) continue;\n    item.at[1] = 0;\n    ++item.at[2];\n  }\n}\n";
}

std::string sequence_source(const std::vector<std::string>& functions, size_t n_buffers) {
  std::string declared, parameters, list, cases;
  for (size_t k = 0; k < functions.size(); ++k) {
    declared += "void " + functions[k] + kParameters + ";\n";
    cases += "      case " + std::to_string(k + 1) + ":\n        " + functions[k] +
             "(work.launch, buffers, work.first, work.end);\n        break;\n";
  }
  for (size_t m = 0; m < n_buffers; ++m) {
    parameters += ", __global char* m" + std::to_string(m);
    list += (m == 0 ? "m" : ", m") + std::to_string(m);
  }
  return declared + kGroupShare +
         "\n__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sequence(const SequenceArgs args, "
         "__global const long* table, volatile __global int* state" +
         parameters + ") {\n  __global char* const buffers[] = {" + list +
         "};\n  work_t work = start(args, table, state);\n"
         "  while (next(&work, args, table, state)) switch (work.launch[0]) {\n" +
         cases + "    }\n}\n";
}

// Returns one launch of each of the distinct kernels, or nothing if some launch cannot be part of a sequence. The order
// does not depend on the order of the launches, so that the driver can use its cache.
std::vector<Recording::Launch> kernels_of(std::span<const Recording> members) {
  std::vector<Recording::Launch> kernels;
  for (const Recording& member : members) {
    if (member.refused()) return {};
    for (const Recording::Launch& l : member.launches()) {
      if (l.range.local != std::array<int64_t, 3>{1, 1, 1} || l.local_floats > 0) return {};
      if (std::none_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.kernel == l.kernel; }))
        kernels.push_back(l);
    }
  }
  std::sort(kernels.begin(), kernels.end(), [&](const auto& a, const auto& b) {
    return std::tie(a.kernel->program->name, a.kernel->name) < std::tie(b.kernel->program->name, b.kernel->name);
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

std::string source_of(const mk_device& device, const Sequence& sequence) {
  const std::vector<Recording::Launch>& kernels = sequence.kernels;
  std::vector<std::string> names;
  std::string source;
  // Kernels of one program are adjacent.
  for (size_t k = 0, unit = 0; k < kernels.size(); ++unit) {
    const BuiltIn* const program = kernels[k].kernel->program;
    const std::string suffix = "_" + std::to_string(unit);
    std::string functions;
    for (; k < kernels.size() && kernels[k].kernel->program == program; ++k) {
      names.push_back("run_" + kernels[k].kernel->name + suffix);
      functions += function_source(names.back(), kernels[k]);
    }
    source += unit_source(device, *program, functions, suffix);
  }
  return source + sequence_source(names, sequence.buffers.size());
}

// Returns nullptr if the driver cannot build the kernel, or until enough launches have requested it to justify a build.
const LibraryKernel* sequence_kernel(mk_device& device, const Sequence& sequence) {
  // A build costs about as much as this many launches: seconds, or a fraction of a second if the driver has cached it.
  constexpr uint64_t kWorthBuilding = 50'000;
  SequenceProgram& made = *sequence.program;
  made.launches += sequence.launches;
  if (made.tried || (made.launches < kWorthBuilding && device.choices.sequence == "worthwhile"))
    return made.kernel.get();
  made.tried = true;
  const auto start = std::chrono::steady_clock::now();
  try {
    made.program = build_program(device, "a sequence of kernels", source_of(device, sequence), "");
    made.kernel = std::make_unique<LibraryKernel>(made.program.get(), nullptr, "sequence");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    device.host.log(seconds > 1 ? MK_LOG_INFO : MK_LOG_DEBUG, "opencl",
                    std::to_string(sequence.kernels.size()) + " kernels combined into one for " + device.info.name +
                        ": " + std::to_string(std::llround(1000 * seconds)) + " ms");
  } catch (const Error& e) {
    device.host.log(MK_LOG_WARNING, "opencl",
                    std::string("networks run op by op on ") + device.info.name + ": " + e.what());
    device.choices.sequence = "never";
  }
  return made.kernel.get();
}

cl_mem state_of(mk_queue& queue, SequenceMemory& memory) {
  if (!memory.state) {
    std::vector<int32_t> zeros(kStateInts);
    cl_int code = CL_SUCCESS;
    memory.state.reset(clCreateBuffer(queue.device->context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      zeros.size() * sizeof(int32_t), zeros.data(), &code));
    check(code, "the state of a sequence");
  }
  return memory.state.get();
}

}  // namespace

bool prepare_sequence(Launcher& launcher, std::span<const Recording> members, const MemberSpace& space, int64_t threads,
                      Sequence& sequence) {
  constexpr size_t kBuffersEach = 16;  // sequences of similar size have a program in common
  mk_queue& queue = launcher.queue();
  std::vector<Recording::Launch>& kernels = sequence.kernels = kernels_of(members);
  std::vector<cl_mem>& buffers = sequence.buffers = buffers_of(members);
  if (kernels.empty() || buffers.size() > kMostBuffers) return false;
  sequence.members = static_cast<int64_t>(members.size());
  sequence.threads = threads;
  sequence.launches = 0;
  sequence.round = 0;
  std::vector<int64_t>& table = sequence.table;
  table.assign(members.size(), 0);
  for (size_t m = 0; m < members.size(); ++m) {
    table[m] = static_cast<int64_t>(table.size());
    for (const Recording::Launch& l : members[m].launches()) {
      ++sequence.launches;
      const auto& [x, y, z] = l.range.global;
      if (x * y * z == 0) continue;
      const auto number =
          std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.kernel == l.kernel; }) -
          kernels.begin() + 1;
      const auto longs = static_cast<int64_t>(kHead + l.n_buffers + l.n_words);
      table.insert(table.end(), {number, longs, x, y, z});
      for (const cl_mem buffer : members[m].buffers(l)) {
        const auto which = std::find(buffers.begin(), buffers.end(), buffer) - buffers.begin();
        table.push_back((queue.workspaces.offset(space, buffer, m) << kBufferBits) | which);
      }
      const std::span<const int64_t> words = members[m].words(l);
      table.insert(table.end(), words.begin(), words.end());
    }
    table.push_back(0);
  }
  buffers.resize((buffers.size() + kBuffersEach - 1) / kBuffersEach * kBuffersEach, nullptr);
  std::vector<const LibraryKernel*> key;
  for (const Recording::Launch& l : kernels) key.push_back(l.kernel);
  sequence.program = &launcher.device().attachments.get<SequencePrograms>().built[{std::move(key), buffers.size()}];
  return true;
}

bool run_sequence(Launcher& launcher, Sequence& sequence) {
  mk_queue& queue = launcher.queue();
  const LibraryKernel* const kernel = sequence_kernel(launcher.device(), sequence);
  if (kernel == nullptr) return false;
  SequenceMemory& memory = queue.attachments.get<SequenceMemory>();
  if (sequence.round == 0 || sequence.round != memory.tables.round()) {
    sequence.place = memory.tables.write(queue, sequence.table);
    sequence.round = memory.tables.round();
  }
  const SequenceArgs args{sequence.place, ++memory.turn, static_cast<int32_t>(sequence.threads)};
  std::vector<cl_mem> buffers{memory.tables.memory(), state_of(queue, memory)};
  buffers.insert(buffers.end(), sequence.buffers.begin(), sequence.buffers.end());
  // Every buffer argument must be a valid buffer.
  std::replace(buffers.begin(), buffers.end(), cl_mem{nullptr}, memory.tables.memory());
  launcher.run(*kernel, {{std::max(sequence.members, sequence.threads), 1, 1}},
               Arguments{"SequenceArgs", std::as_bytes(std::span(&args, 1)), buffers});
  return true;
}

bool has_threads(const mk_device& device) { return works_in_place(device); }

}  // namespace mokume::opencl
