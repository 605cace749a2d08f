// Implements programs, kernels and launches, but compiles nothing: a build looks up the program in the folder that
// bench/gpu/cubins makes from a record.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "hash.hpp"
#include "kernels.hpp"
#include "objects.hpp"

namespace mokume::cuda {
namespace {

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                      cl_int* error) {
  auto program = std::make_unique<_cl_program>(context->device);
  for (cl_uint i = 0; i < count; ++i) {
    const size_t length = lengths != nullptr && lengths[i] != 0 ? lengths[i] : std::strlen(strings[i]);
    program->source.append(strings[i], length);
  }
  return made(program, CL_SUCCESS, error);
}

// Reads HASH.kernels: "NAME X Y Z LOCAL_BYTES ARGUMENTS" for each kernel, and "KIND BYTES TYPE" for each argument.
std::map<std::string, Layout> read_layouts(const std::string& path) {
  std::map<std::string, Layout> kernels;
  std::ifstream in(path);
  for (std::string name; in >> name;) {
    Layout& kernel = kernels[name];
    size_t arguments = 0;
    in >> kernel.group[0] >> kernel.group[1] >> kernel.group[2] >> kernel.local_bytes >> arguments;
    for (size_t i = 0; i < arguments && in; ++i) {
      Argument& argument = kernel.arguments.emplace_back();
      in >> argument.kind >> argument.bytes >> argument.type;
    }
    if (!in) throw std::runtime_error(path + " is damaged: make it again with bench/gpu/cubins");
  }
  return kernels;
}

CUresult load_image(const std::string& path, CUmodule& module) {
  std::ifstream in(path, std::ios::binary);
  const std::string image(std::istreambuf_iterator<char>(in), {});
  return driver().cuModuleLoadData(&module, image.c_str());
}

// Loads a program's cubin. If the driver does not know this kind of cubin, its compiler takes over.
void load(_cl_program& program, const std::string& options) {
  const std::string hash = pose::hash_of(program.source, options);
  const std::string &folder = program.device->platform->cubins, path = folder + "/" + hash;
  program.kernels = read_layouts(path + ".kernels");
  if (program.kernels.empty())
    throw std::runtime_error("OPENCL_CUBINS=" + folder + " has no program " + hash +
                             ": record it (OPENCL_POSE_RECORD) and run bench/gpu/cubins. Options: " + options);
  const CUresult result = load_image(path + ".cubin", program.module);
  if (result == 0) return;
  program.log = "the driver refuses " + path + ".cubin (" + name_of(result) + ")";
  if (load_image(path + ".ptx", program.module) != 0) throw std::runtime_error(program.log + " and its PTX");
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint, const cl_device_id*, const char* options,
                                 void(CL_CALLBACK*)(cl_program, void*), void*) {
  program->device->use();
  try {
    load(*program, options == nullptr ? "" : options);
    return CL_SUCCESS;
  } catch (const std::exception& e) {
    program->log = e.what();
    return CL_BUILD_PROGRAM_FAILURE;
  }
}

cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id, cl_program_build_info what, size_t size,
                                  void* value, size_t* size_ret) {
  return answer(what, size, value, size_ret, CL_PROGRAM_BUILD_LOG, program->log);
}

// There are no binaries, so the program's cache stores none.
cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what, size_t size, void* value,
                                    size_t* size_ret) {
  return answer(what, size, value, size_ret, CL_PROGRAM_REFERENCE_COUNT, program->references.load(),
                CL_PROGRAM_BINARY_SIZES, size_t{0});
}

using Sizes = std::array<size_t, 3>;

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
  const auto found = program->kernels.find(name);
  std::unique_ptr<_cl_kernel> kernel;
  if (found == program->kernels.end()) return made(kernel, CL_INVALID_KERNEL_NAME, error);
  program->device->use();
  kernel = std::make_unique<_cl_kernel>(program, found->first, found->second);
  cl_int code = check("cuModuleGetFunction", driver().cuModuleGetFunction(&kernel->function, program->module, name));
  if (code == CL_SUCCESS)
    code = check("cuFuncGetAttribute", driver().cuFuncGetAttribute(&kernel->most_items, kMaxThreads, kernel->function));
  return made(kernel, code, error);
}

// Returns the bytes that the kernel gets for an argument, or none if the caller's bytes do not fit.
std::vector<unsigned char> value_of(const Argument& argument, size_t size, const void* value) {
  std::vector<unsigned char> bytes(argument.bytes);
  if (argument.kind == 'l') return value == nullptr && size > 0 ? bytes : std::vector<unsigned char>();
  if (size != argument.bytes || (value == nullptr && argument.kind == 'v')) return {};
  if (value == nullptr) return bytes;
  std::memcpy(bytes.data(), value, size);
  if (argument.kind == 'v') return bytes;
  cl_mem buffer = nullptr;
  std::memcpy(static_cast<void*>(&buffer), value, sizeof(buffer));
  const CUdeviceptr memory = buffer == nullptr ? 0 : buffer->memory;
  std::memcpy(bytes.data(), &memory, sizeof(memory));
  return bytes;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  if (index >= kernel->values.size()) return CL_INVALID_ARG_INDEX;
  const Argument& argument = kernel->layout.arguments[index];
  kernel->values[index] = value_of(argument, size, value);
  if (kernel->values[index].empty()) return CL_INVALID_ARG_SIZE;
  if (argument.kind == 'l') kernel->locals[index] = size;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t size, void* value, size_t* size_ret) {
  return answer(what, size, value, size_ret, CL_KERNEL_FUNCTION_NAME, kernel->name, CL_KERNEL_NUM_ARGS,
                static_cast<cl_uint>(kernel->values.size()), CL_KERNEL_REFERENCE_COUNT, kernel->references.load(),
                CL_KERNEL_PROGRAM, kernel->program);
}

cl_int CL_API_CALL get_argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t size, void* value,
                                     size_t* size_ret) {
  if (index >= kernel->values.size()) return CL_INVALID_ARG_INDEX;
  const auto& [kind, bytes, type] = kernel->layout.arguments[index];
  const cl_kernel_arg_address_qualifier space = kind == 'v'   ? CL_KERNEL_ARG_ADDRESS_PRIVATE
                                                : kind == 'g' ? CL_KERNEL_ARG_ADDRESS_GLOBAL
                                                              : CL_KERNEL_ARG_ADDRESS_LOCAL;
  return answer(what, size, value, size_ret, CL_KERNEL_ARG_ADDRESS_QUALIFIER, space, CL_KERNEL_ARG_TYPE_NAME, type);
}

// Gives the kernel the offsets of its local arguments, at multiples of the largest type. Returns the end of the last
// argument.
size_t place_locals(_cl_kernel& kernel) {
  constexpr size_t kLargest = 128;
  size_t end = 0;
  for (const auto& [index, bytes] : kernel.locals) {
    const size_t begin = (end + kLargest - 1) / kLargest * kLargest;
    std::memcpy(kernel.values[index].data(), &begin, sizeof(begin));
    end = begin + bytes;
  }
  return end;
}

// Returns the work-group of a launch that leaves the choice to the driver.
Sizes choose_group(cl_kernel kernel, size_t items) {
  if (kernel->layout.group[0] != 0) return kernel->layout.group;
  const size_t most = static_cast<size_t>(std::min(kernel->most_items, 256));
  size_t along = 1;
  while (along * 2 <= most && items % (along * 2) == 0) along *= 2;
  return {along, 1, 1};
}

cl_int refusal_of(cl_kernel kernel, const pose::Grid& grid, size_t local_bytes) {
  size_t parameters = 0;
  for (const auto& value : kernel->values) {
    if (value.empty()) return CL_INVALID_KERNEL_ARGS;
    parameters += value.size();
  }
  const size_t items = grid.group[0] * grid.group[1] * grid.group[2];
  const bool fits = kernel->layout.group[0] == 0 || kernel->layout.group == grid.group;
  if (!fits || items > static_cast<size_t>(kernel->most_items)) return CL_INVALID_WORK_GROUP_SIZE;
  return pose::refusal(kernel->program->device->card, grid, local_bytes, parameters);
}

cl_int launch(cl_kernel kernel, const pose::Grid& grid, size_t local_bytes, CUstream stream) {
  std::array<unsigned, 3> groups{}, items{};
  for (size_t i = 0; i < 3; ++i) {
    groups[i] = static_cast<unsigned>(grid.global[i] / grid.group[i]);
    items[i] = static_cast<unsigned>(grid.group[i]);
  }
  std::vector<void*> arguments;
  for (auto& value : kernel->values) arguments.push_back(value.data());
  return check(kernel->name.c_str(),
               driver().cuLaunchKernel(kernel->function, groups[0], groups[1], groups[2], items[0], items[1], items[2],
                                       static_cast<unsigned>(local_bytes), stream, arguments.data(), nullptr));
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                  const size_t* global, const size_t* local, cl_uint n_events, const cl_event* events,
                                  cl_event* event) {
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr || std::count(global, global + dimensions, 0U) != 0) return CL_INVALID_GLOBAL_WORK_SIZE;
  if (offset != nullptr && std::count(offset, offset + dimensions, 0U) != dimensions) return CL_INVALID_GLOBAL_OFFSET;
  const Sizes chosen = local == nullptr ? choose_group(kernel, global[0]) : Sizes{};
  const pose::Grid grid(queue->device->card, dimensions, global, local == nullptr ? chosen.data() : local);
  const size_t arguments = place_locals(*kernel);
  if (const cl_int code = refusal_of(kernel, grid, kernel->layout.local_bytes + arguments); code != CL_SUCCESS)
    return code;
  return command(queue, CL_FALSE, n_events, events, event,
                 [&](CUstream stream) { return launch(kernel, grid, arguments, stream); });
}

}  // namespace

void add_programs(cl_icd_dispatch& table) {
  table.clCreateProgramWithSource = create_program;
  table.clReleaseProgram = release<cl_program>;
  table.clBuildProgram = build_program;
  table.clGetProgramBuildInfo = get_build_info;
  table.clGetProgramInfo = get_program_info;
  table.clCreateKernel = create_kernel;
  table.clReleaseKernel = release<cl_kernel>;
  table.clSetKernelArg = set_argument;
  table.clGetKernelInfo = get_kernel_info;
  table.clGetKernelArgInfo = get_argument_info;
  table.clEnqueueNDRangeKernel = enqueue_kernel;
}

}  // namespace mokume::cuda

_cl_program::~_cl_program() {
  device->use();
  if (module != nullptr) mokume::cuda::driver().cuModuleUnload(module);
}
