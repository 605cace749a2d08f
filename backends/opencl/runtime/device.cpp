#include "runtime/device.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>

#include "platforms/describe.hpp"
#include "sdk/variable.hpp"

namespace mokume::opencl {
namespace {

#if defined(__aarch64__)
constexpr bool kArm64 = true;
#else
constexpr bool kArm64 = false;
#endif

// Returns whether this processor is a Zen 4. AMD's later processors compute vectors of 16 floats at once.
bool is_zen4() {
#if defined(__x86_64__)
  constexpr unsigned kAmd = 0x68747541, kFamily = 0x19;  // "Auth", the beginning of AMD's name
  unsigned most = 0, name = 0, version = 0, c = 0, d = 0;
  if (__get_cpuid(0, &most, &name, &c, &d) == 0 || name != kAmd) return false;
  return __get_cpuid(1, &version, &name, &c, &d) != 0 && ((version >> 8) & 0xF) + ((version >> 20) & 0xFF) == kFamily;
#else
  return false;
#endif
}

}  // namespace

std::string size_text(uint64_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

std::unique_ptr<mk_device> open_device(const sdk::Host& host, const std::string& cache_directory, ClBlast* clblast,
                                       const mk_device_info& info, cl_platform_id platform, cl_device_id id) {
  auto device = std::make_unique<mk_device>();
  device->host = host;
  device->cache_directory = cache_directory;
  device->clblast = clblast;
  device->info = info;
  device->longest_wait_s = sdk::seconds_variable("MOKUME_WAIT_SECONDS", device->longest_wait_s);
  device->cores = std::max<int64_t>(info.compute_units, 1);
  device->id = id;
  const cl_uint width = device_value<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4);
  device->vector_width = width >= 16 ? 16 : width >= 8 ? 8 : 4;
  device->halves_vectors = device->vector_width == 16 && is_zen4();
  // AVX-512 also doubles the number of registers for shorter vectors.
  device->vector_registers = kArm64 || device->vector_width == 16 ? 32 : 16;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform),
                                              0};
  cl_int code = CL_SUCCESS;
  device->context.reset(clCreateContext(properties, 1, &id, nullptr, nullptr, &code));
  check(code, std::string("clCreateContext on ") + info.name);
  return device;
}

}  // namespace mokume::opencl

const mokume::opencl::LibraryKernel& mk_device::kernel(const mokume::opencl::BuiltIn& program, const char* name) {
  using namespace mokume::opencl;
  auto found = programs_.find(program);
  if (found == programs_.end()) {
    Program built = build_program(*this, program.name, program.source, built_in_options(program));
    found = programs_.try_emplace(program, program, std::move(built)).first;
  }
  return found->second.kernel(name);
}

std::string mk_device::built_in_options(const mokume::opencl::BuiltIn& program) const {
  using namespace mokume::opencl;
  const bool fma = (info.flags & MK_DEVICE_FMA) != 0;
  // Oclgrind does not support the code into which LLVM turns `restrict` when it inlines a function.
  const bool checked = (info.flags & MK_DEVICE_INSTRUMENTED) != 0;
  // fma() is slow without the instruction, but OpenCL demands one rounding all the same.
  const bool exact = choices.quotients == "exact";
  return program.options + (fma || choices.strict() ? "" : " -DNO_FMA") + (exact ? " -DEXACT" : "") +
         (checked ? " -Drestrict=" : "") + (is_pocl(info) ? " -DWHOLE_VECTORS" : "");
}
