#include "runtime/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "platforms/describe.hpp"
#include "runtime/device.hpp"
#include "runtime/nvidia_fma.embed.hpp"
#include "support/files.hpp"

namespace mokume::opencl {
namespace {

// A cache entry is the SHA-256 of the binary, a newline, and the binary, because drivers crash on damaged binaries.
constexpr size_t kDigestLength = 64;

std::string all_options(const mk_device& device, const std::string& options) {
  std::string all = options.find("-cl-std=") == std::string::npos ? "-cl-std=CL1.2" : "";
  all += " -cl-denorms-are-zero";  // subnormal floats count as zero (abi/op.h)
  all += wide_offsets(device.info);
  all += hints(device.info);
  if (is_pocl(device.info)) all += " -w";  // PoCL's compiler prints the number of warnings on the user's terminal
  if (rounds_quotients(device.id)) all += " -cl-fp32-correctly-rounded-divide-sqrt";
  return options.empty() ? all : all + " " + options;
}

// Returns "" if programs are not cached. PoCL compiles a kernel at launch for the launch's sizes and keeps the result
// in its own cache. Requesting a binary makes PoCL also compile every kernel for arbitrary sizes (5.2 instead of 1.3 s
// for a CPU's GEMM), and PoCL still compiles a program made from that binary for each launch's sizes.
std::string cache_path(const mk_device& device, std::string_view source, const std::string& options) {
  if (device.cache_directory.empty() || is_pocl(device.info)) return "";
  std::string key(source);
  for (const std::string& part : {options, std::string(device.info.name), std::string(device.info.driver),
                                  std::string(device.info.version), std::string(device.info.isa)})
    key += '\0' + part;
  const std::string directory = device.cache_directory + "/programs";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return directory + "/" + sha256(key) + ".bin";
}

Program from_cache(const mk_device& device, const std::string& path, const std::string& options) {
  const auto read = read_file(path);
  if (!read) return nullptr;
  const std::string& entry = *read;
  const std::string_view binary = std::string_view(entry).substr(std::min(entry.size(), kDigestLength + 1));
  if (binary.empty() || entry[kDigestLength] != '\n' || sha256(binary) != entry.substr(0, kDigestLength)) {
    std::error_code failed;
    std::filesystem::rename(path, path + ".damaged", failed);
    device.host.log(
        MK_LOG_WARNING, "opencl",
        path + " is damaged (its checksum differs) and is made anew; it was renamed to " + path + ".damaged");
    return nullptr;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  cl_int code = CL_SUCCESS, status = CL_SUCCESS;
  Program program(clCreateProgramWithBinary(device.context.get(), 1, &device.id, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) return nullptr;
  if (clBuildProgram(program.get(), 1, &device.id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) return nullptr;
  return program;
}

// Caches the program unless the driver returns no binary.
void to_cache(cl_program program, const std::string& path) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS || size == 0)
    return;
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr) != CL_SUCCESS) return;
  replace_file(path, sha256(binary) + "\n" + binary);
}

Program from_source(const mk_device& device, const std::string& name, std::string_view source,
                    const std::string& options) {
  const char* text = source.data();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(device.context.get(), 1, &text, &length, &code));
  check(code, "clCreateProgramWithSource of " + name);
  code = clBuildProgram(program.get(), 1, &device.id, options.c_str(), nullptr, nullptr);
  const std::string log = build_log(program.get(), device.id);
  if (!log.empty())
    device.host.log(code == CL_SUCCESS ? MK_LOG_DEBUG : MK_LOG_ERROR, "opencl",
                    "build log of " + name + " on " + device.info.name + ":\n" + log);
  if (code != CL_SUCCESS)
    throw Error(MK_DEVICE_ERROR,
                name + " does not build on " + device.info.name + " (" + error_name(code) + "): " + first_lines(log));
  return program;
}

Kernel create_kernel(cl_program program, const std::string& name) {
  cl_int code = CL_SUCCESS;
  Kernel kernel(clCreateKernel(program, name.c_str(), &code));
  if (code == CL_INVALID_KERNEL_NAME) throw Error(MK_INVALID_ARGUMENT, "the program has no kernel named " + name);
  check(code, "clCreateKernel of " + name);
  return kernel;
}

}  // namespace

std::string called_source(const BuiltIn& program) { return std::string("#define CALLED\n") + program.source; }

LibraryKernel::LibraryKernel(cl_program built, const BuiltIn* from, const std::string& kernel)
    : handle(create_kernel(built, kernel)), program(from), name(kernel) {
  check(clGetKernelInfo(handle.get(), CL_KERNEL_NUM_ARGS, sizeof(n_arguments), &n_arguments, nullptr),
        "clGetKernelInfo of " + name);
}

const LibraryKernel& LibraryProgram::kernel(std::string_view name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  const std::string text(name);
  return kernels_.try_emplace(text, program_.get(), &what_, text).first->second;
}

cl_kernel KernelSet::get(const std::string& name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second.get();
  return kernels_.emplace(name, create_kernel(program_.get(), name)).first->second.get();
}

Program build_program(mk_device& device, const std::string& name, std::string_view source,
                      const std::string& extra_options) {
  const std::string options = all_options(device, extra_options);
  const std::string with_fma = is_nvidia(device.info) ? std::string(kRuntimeNvidiaFma).append(source) : "";
  if (!with_fma.empty()) source = with_fma;
  const std::string path = cache_path(device, source, options);
  if (!path.empty()) {
    if (Program program = from_cache(device, path, options)) return program;
  }
  const auto start = std::chrono::steady_clock::now();
  Program program = from_source(device, name, source, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (seconds > 1) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
    device.host.log(MK_LOG_INFO, "opencl", std::string("building kernels for ") + device.info.name + ": " + text);
  }
  if (!path.empty()) to_cache(program.get(), path);
  return program;
}

}  // namespace mokume::opencl
