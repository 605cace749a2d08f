#include "platforms/describe.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "sdk/cores.hpp"
#include "sdk/plugin.hpp"

namespace mokume::opencl {
namespace {

constexpr cl_device_info kPciBusInfoKhr = 0x410F;  // cl_khr_pci_bus_info; not in Debian 12's OpenCL 1.2 headers
struct PciBusInfoKhr {
  cl_uint domain, bus, device, function;
};

constexpr const char* kAttributesNv = "cl_nv_device_attribute_query";
constexpr cl_device_info kPciBusNv = 0x4008;
constexpr cl_device_info kPciSlotNv = 0x4009;
constexpr cl_device_info kPciDomainNv = 0x400A;
constexpr cl_device_info kComputeMajorNv = 0x4000;
constexpr cl_device_info kComputeMinorNv = 0x4001;
constexpr cl_device_info kTopologyAmd = 0x4037;  // cl_amd_device_attribute_query
struct TopologyAmd {
  cl_uint type;  // 1 means PCIe
  unsigned char unused[17];
  unsigned char bus, device, function;
};

std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "pci:%04x:%02x:%02x.%x", domain & 0xFFFFU, bus & 0xFFU, device & 0x1FU,
                function & 7U);
  return text.data();
}

std::string pci_id(cl_device_id device) {
  const std::string extensions = device_text(device, CL_DEVICE_EXTENSIONS);
  const auto has = [&](const char* extension) { return extensions.find(extension) != std::string::npos; };
  PciBusInfoKhr khr{};
  if (has("cl_khr_pci_bus_info") && clGetDeviceInfo(device, kPciBusInfoKhr, sizeof(khr), &khr, nullptr) == CL_SUCCESS)
    return pci_text(khr.domain, khr.bus, khr.device, khr.function);
  cl_uint bus = 0, slot = 0;
  if (has(kAttributesNv) && clGetDeviceInfo(device, kPciBusNv, sizeof(bus), &bus, nullptr) == CL_SUCCESS &&
      clGetDeviceInfo(device, kPciSlotNv, sizeof(slot), &slot, nullptr) == CL_SUCCESS)
    return pci_text(device_value<cl_uint>(device, kPciDomainNv), bus, slot >> 3, slot & 7U);
  TopologyAmd amd{};
  if (has("cl_amd_device_attribute_query") &&
      clGetDeviceInfo(device, kTopologyAmd, sizeof(amd), &amd, nullptr) == CL_SUCCESS && amd.type == 1)
    return pci_text(0, amd.bus, amd.device, amd.function);
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find(part) != std::string::npos;
}

// Returns the instruction set. PoCL states it in its version ("... HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512"),
// AMD in the device name, and NVIDIA as the compute capability.
std::string isa_of(cl_device_id device) {
  const std::string version = device_text(device, CL_DEVICE_VERSION);
  const size_t at = version.find("HSTR: ");
  if (at != std::string::npos) return version.substr(at + 6);
  cl_uint major = 0;
  if (device_text(device, CL_DEVICE_EXTENSIONS).find(kAttributesNv) != std::string::npos &&
      clGetDeviceInfo(device, kComputeMajorNv, sizeof(major), &major, nullptr) == CL_SUCCESS)
    return "sm_" + std::to_string(major) + std::to_string(device_value<cl_uint>(device, kComputeMinorNv));
  const std::string name = device_text(device, CL_DEVICE_NAME);
  return name.starts_with("gfx") ? name : "";
}

mk_device_kind kind_of(cl_device_type type, bool software) {
  if ((type & CL_DEVICE_TYPE_CPU) != 0 || software) return MK_DEVICE_CPU;
  return (type & CL_DEVICE_TYPE_GPU) != 0 ? MK_DEVICE_GPU : MK_DEVICE_OTHER;
}

// Doubles four numbers, and stores the differences between four products and their rounded values. A difference is 0,
// unless the compiler fuses the product with the following sum: (1 + 2^-12)^2 needs 25 bits, so 2^-24 is left.
constexpr const char* kProbe = R"CL(
#pragma OPENCL FP_CONTRACT OFF
__kernel void probe(__global const float* in, __global float* out) {
  const int i = (int)get_global_id(0);
  const float factor = in[4], rounded = in[5], product = factor * factor;
  const float4 wide = (float4)(factor);
  float sum = -rounded;
  for (int turn = 0; turn < min(i, 1); ++turn) sum += factor * factor;
  out[i] = 2.0f * in[i];
  out[4 + i] = i == 0 ? product - rounded : i == 1 ? rounded - product : i == 2 ? (wide * wide - rounded).y : sum;
}
)CL";

struct Tried {
  std::string problem;  // "" if the device builds and runs kernels
  bool fuses = false;
};

// A kernel whose arguments are buffers of numbers, the last one of results, in a context of its own.
class SmallKernel {
 public:
  SmallKernel(cl_device_id device, const char* source, const char* name, const char* options) {
    cl_int code = CL_SUCCESS;
    context_ = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check(code, "clCreateContext");
    queue_ = CommandQueue(clCreateCommandQueue(context_.get(), device, 0, &code));
    check(code, "clCreateCommandQueue");
    program_ = Program(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &code));
    check(code, "clCreateProgramWithSource");
    code = clBuildProgram(program_.get(), 1, &device, options, nullptr, nullptr);
    const std::string log = code == CL_SUCCESS ? "" : first_lines(build_log(program_.get(), device));
    check(code, log.empty() ? "clBuildProgram" : "clBuildProgram says: " + log);
    kernel_ = Kernel(clCreateKernel(program_.get(), name, &code));
    check(code, "clCreateKernel");
  }

  // Runs a group of `items` on copies of the inputs, and reads the last buffer.
  void run(const std::vector<std::vector<float>>& inputs, size_t items, std::vector<float>& results) {
    cl_int code = CL_SUCCESS;
    std::vector<Memory> buffers;
    for (const std::vector<float>& input : inputs) {
      buffers.emplace_back(clCreateBuffer(context_.get(), CL_MEM_COPY_HOST_PTR, input.size() * 4,
                                          const_cast<float*>(input.data()), &code));
      check(code, "clCreateBuffer");
    }
    buffers.emplace_back(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, results.size() * 4, nullptr, &code));
    check(code, "clCreateBuffer");
    cl_uint index = 0;
    for (const Memory& buffer : buffers) {
      const cl_mem argument = buffer.get();
      check(clSetKernelArg(kernel_.get(), index++, sizeof(argument), &argument), "clSetKernelArg");
    }
    check(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &items, &items, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue_.get(), buffers.back().get(), CL_TRUE, 0, results.size() * 4, results.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  Context context_;
  CommandQueue queue_;
  Program program_;
  Kernel kernel_;
};

Tried try_device(cl_device_id device) {
  if (device_value<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return {"is not available"};
  if (device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return {"has no compiler"};
  try {
    std::vector<float> results(8);
    SmallKernel(device, kProbe, "probe", "-cl-std=CL1.2").run({{1, 2, 3, 4, 1 + 0x1p-12F, 1 + 0x1p-11F}}, 4, results);
    const bool doubled = std::equal(results.begin(), results.begin() + 4, std::array<float, 4>{2, 4, 6, 8}.begin());
    const bool apart = std::all_of(results.begin() + 4, results.end(), [](float rest) { return rest == 0; });
    return {doubled ? "" : "computes wrong results", !apart};
  } catch (const Error& e) {
    return {std::string("cannot build and run a kernel (") + e.what() + ")"};
  }
}

// Multiplies small integers, whose products and sums are exact in every precision and order.
std::string multiply_block(cl_device_id device, const UnitProbe& probe) {
  const auto rows = size_t{16}, columns = static_cast<size_t>(probe.columns), terms = static_cast<size_t>(probe.terms);
  std::vector<float> a(rows * terms), b(columns * terms), got(rows * columns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>((i * 7 + i / 5) % 9) - 4;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>((i * 5 + i / 3) % 7) - 3;
  SmallKernel(device, probe.source.c_str(), "unit_probe", probe.options.c_str())
      .run({a, b}, static_cast<size_t>(probe.lanes), got);
  for (size_t m = 0; m < rows; ++m)
    for (size_t n = 0; n < columns; ++n) {
      float sum = 0;
      for (size_t k = 0; k < terms; ++k) sum += a[m * terms + k] * b[n * terms + k];
      if (sum != got[m * columns + n]) return "they give a wrong product";
    }
  return "";
}

struct TextField {
  const char* key;
  char* (*at)(mk_device_info&);
  size_t size;
};

struct NumberField {
  const char* key;
  uint64_t (*get)(const mk_device_info&);
  void (*set)(mk_device_info&, uint64_t);
};

#define MOKUME_TEXT(field)                                                                \
  {                                                                                       \
#field, [](mk_device_info & i) { return &i.field[0]; }, sizeof(mk_device_info::field) \
  }
#define MOKUME_NUMBER(field)                                                                                         \
  {                                                                                                                  \
#field, [](const mk_device_info&                                                                                 \
                   i) { return uint64_t(i.field); }, [](mk_device_info & i,                                          \
                                                        uint64_t v) { i.field = static_cast<decltype(i.field)>(v); } \
  }

constexpr TextField kTexts[] = {MOKUME_TEXT(name),    MOKUME_TEXT(platform), MOKUME_TEXT(vendor),
                                MOKUME_TEXT(version), MOKUME_TEXT(driver),   MOKUME_TEXT(physical_id),
                                MOKUME_TEXT(isa)};
constexpr NumberField kNumbers[] = {MOKUME_NUMBER(kind),
                                    MOKUME_NUMBER(flags),
                                    MOKUME_NUMBER(memory_bytes),
                                    MOKUME_NUMBER(max_buffer_bytes),
                                    MOKUME_NUMBER(compute_units),
                                    MOKUME_NUMBER(max_work_group),
                                    MOKUME_NUMBER(local_memory_bytes)};
#undef MOKUME_TEXT
#undef MOKUME_NUMBER

void parse_device_line(mk_device_info& info, std::string_view key, std::string_view value) {
  for (const TextField& f : kTexts) {
    if (key != f.key) continue;
    const size_t n = std::min(value.size(), f.size - 1);
    std::memcpy(f.at(info), value.data(), n);
    f.at(info)[n] = '\0';
  }
  for (const NumberField& f : kNumbers) {
    uint64_t number = 0;
    if (key == f.key && std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
      f.set(info, number);
  }
}

}  // namespace

mk_device_info describe_device(cl_platform_id platform, cl_device_id device) {
  mk_device_info info{};
  info.struct_size = sizeof(info);
  const std::string name = device_text(device, CL_DEVICE_NAME);
  const bool software = contains(name, "llvmpipe") || contains(name, "softpipe");
  const bool instrumented = contains(platform_text(platform, CL_PLATFORM_NAME), "oclgrind");
  info.kind = kind_of(device_value<cl_device_type>(device, CL_DEVICE_TYPE), software);
  if (device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0) info.flags |= MK_DEVICE_FP64;
  if ((device_value<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA) != 0)
    info.flags |= MK_DEVICE_FMA;
  if (software) info.flags |= MK_DEVICE_SOFTWARE;
  if (instrumented) info.flags |= MK_DEVICE_INSTRUMENTED;
  if (info.kind != MK_DEVICE_CPU && device_value<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE)
    info.flags |= MK_DEVICE_SHARED_MEMORY;
  info.memory_bytes = device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_buffer_bytes = device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.compute_units = device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.max_work_group = static_cast<uint32_t>(device_value<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  info.local_memory_bytes = device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  sdk::set_text(info.name, name);
  sdk::set_text(info.platform, platform_text(platform, CL_PLATFORM_NAME));
  sdk::set_text(info.vendor, device_text(device, CL_DEVICE_VENDOR));
  sdk::set_text(info.version, platform_text(platform, CL_PLATFORM_VERSION));
  sdk::set_text(info.driver, device_text(device, CL_DRIVER_VERSION));
  sdk::set_text(info.physical_id, info.kind == MK_DEVICE_CPU ? sdk::cpu_id() : pci_id(device));
  sdk::set_text(info.isa, isa_of(device));
  return info;
}

bool rounds_quotients(cl_device_id device) {
  const auto offered = device_value<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  return (offered & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices(count);
  if (count > 0) check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
  return devices;
}

std::vector<cl_platform_id> all_platforms() {
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code == CL_PLATFORM_NOT_FOUND_KHR || count == 0) return {};
  check(code, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  return platforms;
}

std::vector<PlatformRecord> describe_platforms(bool try_compiler) {
  std::vector<PlatformRecord> records;
  for (const cl_platform_id platform : all_platforms()) {
    PlatformRecord record;
    record.name = platform_text(platform, CL_PLATFORM_NAME);
    record.version = platform_text(platform, CL_PLATFORM_VERSION);
    for (const cl_device_id device : devices_of(platform)) {
      const Tried tried = try_compiler ? try_device(device) : Tried{};
      if (!tried.problem.empty()) {
        record.problem = device_text(device, CL_DEVICE_NAME) + " " + tried.problem;
        continue;
      }
      record.devices.push_back(describe_device(platform, device));
      if (tried.fuses) record.devices.back().flags |= MK_DEVICE_FUSES;
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::string try_units(const std::string& platform, const std::string& device, int64_t before, const UnitProbe& probe) {
  std::string problem = "the device is gone";
  try {
    for (const cl_platform_id p : all_platforms()) {
      if (platform_text(p, CL_PLATFORM_NAME) != platform) continue;
      for (const cl_device_id id : devices_of(p))
        if (device_text(id, CL_DEVICE_NAME) == device && before-- == 0) problem = multiply_block(id, probe);
    }
  } catch (const Error& e) {
    problem = e.what();
  }
  return problem.empty() ? std::string(kUnitsWork) : std::string(kUnitsRefused) + problem;
}

std::string print(const std::vector<PlatformRecord>& platforms) {
  std::string text;
  const auto line = [&](const char* key, const std::string& value) { text += std::string(key) + " " + value + "\n"; };
  for (const PlatformRecord& p : platforms) {
    line("platform_name", p.name);
    line("platform_version", p.version);
    if (!p.problem.empty()) line("problem", p.problem);
    for (mk_device_info info : p.devices) {
      line("device", "");
      for (const TextField& f : kTexts) line(f.key, f.at(info));
      for (const NumberField& f : kNumbers) line(f.key, std::to_string(f.get(info)));
    }
  }
  line("end", "");
  return text;
}

std::vector<PlatformRecord> parse(std::string_view text) {
  std::vector<PlatformRecord> platforms;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    const std::string_view value = space == std::string_view::npos ? "" : line.substr(space + 1);
    if (key == "end") return platforms;
    if (key == "platform_name") platforms.emplace_back().name = value;
    if (platforms.empty()) continue;
    PlatformRecord& p = platforms.back();
    if (key == "platform_version") p.version = value;
    if (key == "problem") p.problem = value;
    if (key == "device") p.devices.emplace_back().struct_size = sizeof(mk_device_info);
    if (!p.devices.empty()) parse_device_line(p.devices.back(), key, value);
  }
  throw Error(MK_BAD_DATA, "a description of OpenCL platforms is truncated");
}

}  // namespace mokume::opencl
