// Records, as an OpenCL layer, the compiler output of the driver for every program, including CLBlast's:
//
//   OPENCL_LAYERS=/path/build_logs.so BUILD_LOGS=/path/directory PROGRAM...
//
// Each build leaves PID-NUMBER.json there, with kernels, options, code, seconds and the log. The layer skips programs
// created from binaries, because nothing is compiled for them, and intercepts no other functions of OpenCL. NVIDIA's
// compiler reports registers and spills only on request; the option changes nothing else.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gpu/pose/loader.hpp"

namespace {

cl_icd_dispatch below{};

// Returns the text up to its terminating zero, if any.
template <class Call>
std::string text_of(const Call& call) {
  size_t size = 0;
  if (call(size_t{0}, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (call(size, static_cast<void*>(text.data()), nullptr) != CL_SUCCESS) return "";
  return text.c_str();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code > 0x7e) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", code);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_nvidia(cl_device_id device) {
  const std::string extensions = text_of([&](size_t size, void* value, size_t* needed) {
    return below.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, value, needed);
  });
  return extensions.find("cl_nv_compiler_options") != std::string::npos;
}

struct Build {
  cl_program program;
  cl_device_id device;
  std::string options;
  cl_int code;
  double seconds;
};

void write_down(const Build& build) {
  const char* directory = std::getenv("BUILD_LOGS");
  if (directory == nullptr) return;
  static std::atomic<int> number{0};
  const std::string kernels = text_of([&](size_t size, void* value, size_t* needed) {
    return below.clGetProgramInfo(build.program, CL_PROGRAM_KERNEL_NAMES, size, value, needed);
  });
  const std::string log = text_of([&](size_t size, void* value, size_t* needed) {
    return below.clGetProgramBuildInfo(build.program, build.device, CL_PROGRAM_BUILD_LOG, size, value, needed);
  });
  const std::string path =
      std::string(directory) + "/" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file, "{\"kernels\": %s, \"options\": %s, \"code\": %d, \"seconds\": %.4f, \"log\": %s}\n",
               quoted(kernels).c_str(), quoted(build.options).c_str(), build.code, build.seconds, quoted(log).c_str());
  std::fclose(file);
}

cl_device_id first_device(cl_program program) {
  cl_uint count = 0;
  if (below.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr) != CL_SUCCESS ||
      count != 1)
    return nullptr;
  cl_device_id device = nullptr;
  below.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(device), static_cast<void*>(&device), nullptr);
  return device;
}

bool has_source(cl_program program) {
  size_t size = 0;
  return below.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) == CL_SUCCESS && size > 1;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint n_devices, const cl_device_id* devices,
                                 const char* options, void(CL_CALLBACK* notify)(cl_program, void*), void* user_data) {
  const cl_device_id device = n_devices == 1 ? devices[0] : first_device(program);
  // A build that returns before it is done has no log yet.
  if (device == nullptr || notify != nullptr || !has_source(program))
    return below.clBuildProgram(program, n_devices, devices, options, notify, user_data);
  std::string all = options == nullptr ? "" : options;
  if (is_nvidia(device)) all += " -cl-nv-verbose";
  const auto start = std::chrono::steady_clock::now();
  const cl_int code = below.clBuildProgram(program, n_devices, devices, all.c_str(), notify, user_data);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_down({program, device, all, code, seconds});
  return code;
}

}  // namespace

const char* const mokume::layer::kName = "mokume's build logs";

void mokume::layer::put_in_front(cl_icd_dispatch& table) {
  below = table;
  table.clBuildProgram = build_program;
}
