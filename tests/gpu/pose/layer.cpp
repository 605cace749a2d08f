// Implements an OpenCL layer that makes every device pose as a card. The loader puts the layer in front of the driver
// if OPENCL_LAYERS names its library. OPENCL_POSE names the card's file, and OPENCL_POSE_RECORD a directory for the
// files of record.hpp. With OPENCL_POSE_BINARIES=1, programs can be read as binaries, which a cache may keep. With
// OPENCL_POSE_BOASTS=1, the card claims all its memory, even if this machine has less. The driver still computes. The
// layer answers and refuses like the card, and counts.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "answers.hpp"
#include "kernels.hpp"
#include "loader.hpp"
#include "record.hpp"

namespace mokume::pose {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Program {
  std::string source, hash;
};

struct Layer {
  Layer(Card posed, std::string directory) : card(std::move(posed)), record(std::move(directory)) {}

  cl_icd_dispatch below{};
  Card card;
  std::atomic<bool> idle{false};
  std::atomic<pose_health_t> health{POSE_HEALTHY};
  std::atomic<cl_event> asked{nullptr};  // the event whose status was asked for last
  bool gives_binaries = false;           // OPENCL_POSE_BINARIES
  bool boasts = false;                   // OPENCL_POSE_BOASTS
  Record record;
  Kernels kernels;
  std::mutex mutex;
  std::map<cl_program, Program> programs;
};

Layer* layer = nullptr;  // lives until the process exits, because destructors of other libraries make the last calls

// ---- queries --------------------------------------------------------------------------------------------------------

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void* value,
                                     size_t* size_ret) {
  const Answer answer = platform_answer(layer->card, what);
  return answer.empty() ? layer->below.clGetPlatformInfo(platform, what, size, value, size_ret)
                        : give(answer, size, value, size_ret);
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                                  cl_uint* count) {
  if ((type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) == 0) {
    if (count != nullptr) *count = 0;
    return CL_DEVICE_NOT_FOUND;
  }
  return layer->below.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, entries, devices, count);
}

cl_ulong memory_of(cl_device_id device, cl_device_info what) {
  cl_ulong bytes = ~cl_ulong{0};
  if (!layer->boasts) layer->below.clGetDeviceInfo(device, what, sizeof(bytes), &bytes, nullptr);
  return bytes;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size, void* value,
                                   size_t* size_ret) {
  const Answer answer = device_answer(layer->card, what, memory_of(device, CL_DEVICE_GLOBAL_MEM_SIZE),
                                      memory_of(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  return answer.empty() ? layer->below.clGetDeviceInfo(device, what, size, value, size_ret)
                        : give(answer, size, value, size_ret);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error) {
  if (size > layer->card.buffer_bytes) {
    if (error != nullptr) *error = CL_INVALID_BUFFER_SIZE;
    return nullptr;
  }
  return layer->below.clCreateBuffer(context, flags, size, host, error);
}

// ---- programs -------------------------------------------------------------------------------------------------------

// Removes features that the card's compiler lacks.
std::string preamble(const Card& card) {
  std::string text;
  // Without the extension, programs may have pointers to halves, but no variables of that type.
  if (!card.has_extension("cl_khr_fp16"))
    text += "#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n#endif\n";
  for (const char* extension : {"cl_khr_fp64", "cl_khr_fp16", "cl_khr_int64_base_atomics", "cl_khr_subgroups"})
    if (!card.has_extension(extension)) text += std::string("#undef ") + extension + "\n";
  if (!card.fp64) text += "#define double this_card_has_no_fp64\n";
  return text + "#line 1\n";
}

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                      cl_int* error) {
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    const size_t length = lengths != nullptr && lengths[i] != 0 ? lengths[i] : std::strlen(strings[i]);
    source.append(strings[i], length);
  }
  const std::string all = preamble(layer->card) + source;
  const char* text = all.c_str();
  const size_t length = all.size();
  const cl_program program = layer->below.clCreateProgramWithSource(context, 1, &text, &length, error);
  const std::lock_guard lock(layer->mutex);
  if (program != nullptr) layer->programs[program] = {source, ""};
  return program;
}

// Returns the options for the driver, without the option that only Intel's compiler knows. Returns nothing if the
// options contain it but the card's compiler does not know it.
std::optional<std::string> passed_options(const Card& card, std::string options) {
  constexpr std::string_view kOfIntel = "-cl-intel-greater-than-4GB-buffer-required";
  const size_t at = options.find(kOfIntel);
  if (at == std::string::npos) return options;
  if (!card.has_extension("cl_intel_subgroups")) return std::nullopt;
  return options.erase(at, kOfIntel.size());
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                 void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  const std::string given = options == nullptr ? "" : options;
  {
    const std::lock_guard lock(layer->mutex);
    const auto known = layer->programs.find(program);  // missing if it was made from a binary
    if (known != layer->programs.end()) known->second.hash = layer->record.program(known->second.source, given);
  }
  const std::optional<std::string> passed = passed_options(layer->card, given);
  if (!passed) return CL_INVALID_BUILD_OPTIONS;
  return layer->below.clBuildProgram(program, count, devices, passed->c_str(), notify, data);
}

cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint count, const cl_device_id* devices,
                                          const size_t* sizes, const unsigned char** binaries, cl_int* status,
                                          cl_int* error) {
  layer->record.count([](pose_counts_t& c) { ++c.cached_programs; });
  return layer->below.clCreateProgramWithBinary(context, count, devices, sizes, binaries, status, error);
}

// The card returns the driver's binaries only on request, because PoCL compiles every kernel for arbitrary sizes to
// make one, and a cache would reuse it for another release of PoCL.
cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what, size_t size, void* value,
                                    size_t* size_ret) {
  if (layer->gives_binaries) return layer->below.clGetProgramInfo(program, what, size, value, size_ret);
  if (what == CL_PROGRAM_BINARY_SIZES) return give(Answer(sizeof(size_t)), size, value, size_ret);
  if (what == CL_PROGRAM_BINARIES) return CL_SUCCESS;
  return layer->below.clGetProgramInfo(program, what, size, value, size_ret);
}

cl_int CL_API_CALL release_program(cl_program program) {
  cl_uint references = 0;
  layer->below.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(references), &references, nullptr);
  if (references == 1) {
    const std::lock_guard lock(layer->mutex);
    layer->programs.erase(program);
  }
  return layer->below.clReleaseProgram(program);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

Kernels::Kernel& known(cl_kernel kernel) {
  return layer->kernels.at(kernel, [&](Kernels::Kernel& k) {
    std::array<char, 256> name{};
    layer->below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(), nullptr);
    k.name = name.data();
    cl_program program = nullptr;
    layer->below.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, nullptr);
    const std::lock_guard lock(layer->mutex);
    k.program = layer->programs[program].hash;
  });
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  const cl_int code = layer->below.clSetKernelArg(kernel, index, size, value);
  if (code != CL_SUCCESS) return code;
  Kernels::Kernel& k = known(kernel);
  cl_kernel_arg_address_qualifier where = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  if (value == nullptr)
    layer->below.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where), &where, nullptr);
  const bool is_local = value == nullptr && where != CL_KERNEL_ARG_ADDRESS_GLOBAL;
  k.values[index] = is_local ? sizeof(void*) : size;
  k.locals[index] = is_local ? size : 0;
  return CL_SUCCESS;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  cl_uint references = 0;
  layer->below.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(references), &references, nullptr);
  if (references == 1) layer->kernels.forget(kernel);
  return layer->below.clReleaseKernel(kernel);
}

cl_int CL_API_CALL get_kernel_work_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                              size_t size, void* value, size_t* size_ret) {
  const auto number = [&](size_t n) {
    Answer answer(sizeof(n));
    std::memcpy(answer.data(), &n, sizeof(n));
    return give(answer, size, value, size_ret);
  };
  if (what == CL_KERNEL_WORK_GROUP_SIZE) return number(layer->card.work_group);
  if (what == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE) return number(layer->card.wave);
  return layer->below.clGetKernelWorkGroupInfo(kernel, device, what, size, value, size_ret);
}

// Counts local arguments and the local memory that the kernel declares itself.
size_t local_bytes(cl_command_queue queue, cl_kernel kernel, const Kernels::Kernel& k) {
  cl_device_id device = nullptr;
  cl_ulong bytes = 0;
  layer->below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, nullptr);
  layer->below.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(bytes), &bytes, nullptr);
  return std::max(static_cast<size_t>(bytes), k.local_bytes());
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                  const size_t* global, const size_t* local, cl_uint n_events, const cl_event* events,
                                  cl_event* event) {
  const Kernels::Kernel& k = known(kernel);
  if (dimensions >= 1 && dimensions <= 3 && global != nullptr) {
    const Grid grid(layer->card, dimensions, global, local);
    const size_t locals = local_bytes(queue, kernel, k);
    if (const cl_int code = refusal(layer->card, grid, locals, k.value_bytes()); code != CL_SUCCESS) return code;
    layer->record.kernel(k.program, k.name, grid.group, locals);
  }
  layer->record.count([](pose_counts_t& c) { ++c.launches; });
  if (layer->idle)
    return event == nullptr ? CL_SUCCESS : layer->below.clEnqueueMarkerWithWaitList(queue, n_events, events, event);
  return layer->below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n_events, events, event);
}

// ---- copies and waits -----------------------------------------------------------------------------------------------

cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t size,
                                void* to, cl_uint n_events, const cl_event* events, cl_event* event) {
  layer->record.count([&](pose_counts_t& c) {
    ++c.reads;
    c.read_bytes += size;
    c.waits += blocking != CL_FALSE ? 1 : 0;
  });
  return layer->below.clEnqueueReadBuffer(queue, from, blocking, offset, size, to, n_events, events, event);
}

cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t size,
                                 const void* from, cl_uint n_events, const cl_event* events, cl_event* event) {
  layer->record.count([&](pose_counts_t& c) {
    ++c.writes;
    c.written_bytes += size;
    c.waits += blocking != CL_FALSE ? 1 : 0;
  });
  return layer->below.clEnqueueWriteBuffer(queue, to, blocking, offset, size, from, n_events, events, event);
}

void count_copy(size_t size) {
  layer->record.count([&](pose_counts_t& c) {
    ++c.copies;
    c.copied_bytes += size;
  });
}

cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                size_t size, cl_uint n_events, const cl_event* events, cl_event* event) {
  count_copy(size);
  return layer->below.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, n_events, events, event);
}

cl_int CL_API_CALL enqueue_fill(cl_command_queue queue, cl_mem to, const void* pattern, size_t pattern_size,
                                size_t offset, size_t size, cl_uint n_events, const cl_event* events, cl_event* event) {
  count_copy(size);
  return layer->below.clEnqueueFillBuffer(queue, to, pattern, pattern_size, offset, size, n_events, events, event);
}

void count_wait() {
  layer->record.count([](pose_counts_t& c) { ++c.waits; });
}

void* CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                              size_t offset, size_t size, cl_uint n_events, const cl_event* events, cl_event* event,
                              cl_int* error) {
  if (blocking != CL_FALSE) count_wait();
  return layer->below.clEnqueueMapBuffer(queue, memory, blocking, flags, offset, size, n_events, events, event, error);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  count_wait();
  if (layer->health == POSE_HANGS) {
    std::fprintf(stderr, "pose: clFinish would never return\n");
    std::abort();
  }
  return layer->below.clFinish(queue);
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  count_wait();
  return layer->below.clWaitForEvents(count, events);
}

// Asking for the status of an event once or more is a wait.
void count_status(cl_event event) {
  if (layer->asked.exchange(event) != event) count_wait();
}

cl_int CL_API_CALL release_event(cl_event event) {
  cl_event asked = event;
  layer->asked.compare_exchange_strong(asked, nullptr);  // the next event may get the same handle
  return layer->below.clReleaseEvent(event);
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  if (what == CL_EVENT_COMMAND_EXECUTION_STATUS) count_status(event);
  if (layer->health == POSE_HANGS && what == CL_EVENT_COMMAND_EXECUTION_STATUS) {
    Answer running(sizeof(cl_int));
    const cl_int status = CL_RUNNING;
    std::memcpy(running.data(), &status, sizeof(status));
    return give(running, size, value, size_ret);
  }
  return layer->below.clGetEventInfo(event, what, size, value, size_ret);
}

void replace_functions(cl_icd_dispatch& table) {
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateBuffer = create_buffer;
  table.clCreateProgramWithSource = create_program;
  table.clBuildProgram = build_program;
  table.clGetProgramInfo = get_program_info;
  table.clReleaseProgram = release_program;
  table.clSetKernelArg = set_argument;
  table.clReleaseKernel = release_kernel;
  table.clGetKernelWorkGroupInfo = get_kernel_work_group_info;
  table.clEnqueueNDRangeKernel = enqueue_kernel;
  table.clEnqueueReadBuffer = enqueue_read;
  table.clEnqueueWriteBuffer = enqueue_write;
  table.clEnqueueCopyBuffer = enqueue_copy;
  table.clEnqueueFillBuffer = enqueue_fill;
  table.clEnqueueMapBuffer = enqueue_map;
  table.clFinish = finish;
  table.clWaitForEvents = wait_for_events;
  table.clReleaseEvent = release_event;
  table.clGetEventInfo = get_event_info;
  table.clCreateProgramWithBinary = create_from_binary;
}

__attribute__((destructor)) void write_counts() {
  if (layer != nullptr) layer->record.write_counts();
}

}  // namespace
}  // namespace mokume::pose

const char* const mokume::layer::kName = "mokume's pose";

void mokume::layer::put_in_front(cl_icd_dispatch& table) {
  using namespace pose;
  try {
    pose::layer = new Layer(read_card(variable("OPENCL_POSE")), variable("OPENCL_POSE_RECORD"));
  } catch (const std::exception& e) {
    // A test that meant to run on the card must not pass on the CPU.
    std::fprintf(stderr, "pose: %s; set OPENCL_POSE to a file of tests/gpu/pose/cards\n", e.what());
    std::exit(2);
  }
  pose::layer->boasts = !variable("OPENCL_POSE_BOASTS").empty();
  pose::layer->gives_binaries = !variable("OPENCL_POSE_BINARIES").empty();
  pose::layer->below = table;
  replace_functions(table);
}

extern "C" {

__attribute__((visibility("default"))) void pose_idle(int idle) {
  if (mokume::pose::layer != nullptr) mokume::pose::layer->idle = idle != 0;
}

__attribute__((visibility("default"))) void pose_health(pose_health_t health) {
  if (mokume::pose::layer != nullptr) mokume::pose::layer->health = health;
}

__attribute__((visibility("default"))) void pose_counts(pose_counts_t* counts) {
  *counts = mokume::pose::layer == nullptr ? pose_counts_t{} : mokume::pose::layer->record.counts();
}
}
