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

Tried try_device(cl_device_id device) {
  if (device_value<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return {"is not available"};
  if (device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return {"has no compiler"};
  try {
    cl_int code = CL_SUCCESS;
    const Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check(code, "clCreateContext");
    const CommandQueue queue(clCreateCommandQueue(context.get(), device, 0, &code));
    check(code, "clCreateCommandQueue");
    const char* source = kProbe;
    const Program program(clCreateProgramWithSource(context.get(), 1, &source, nullptr, &code));
    check(code, "clCreateProgramWithSource");
    code = clBuildProgram(program.get(), 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
    const std::string log = code == CL_SUCCESS ? "" : first_lines(build_log(program.get(), device));
    check(code, log.empty() ? "clBuildProgram" : "clBuildProgram says: " + log);
    const Kernel kernel(clCreateKernel(program.get(), "probe", &code));
    check(code, "clCreateKernel");
    std::array<float, 6> numbers{1, 2, 3, 4, 1 + 0x1p-12F, 1 + 0x1p-11F};
    std::array<float, 8> results{};
    const Memory in(clCreateBuffer(context.get(), CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers.data(), &code));
    check(code, "clCreateBuffer");
    const Memory out(clCreateBuffer(context.get(), CL_MEM_READ_WRITE, sizeof(results), nullptr, &code));
    check(code, "clCreateBuffer");
    cl_uint index = 0;
    for (cl_mem argument : {in.get(), out.get()})
      check(clSetKernelArg(kernel.get(), index++, sizeof(argument), &argument), "clSetKernelArg");
    const size_t global = results.size() / 2;
    check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue.get(), out.get(), CL_TRUE, 0, sizeof(results), results.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    const bool doubled = std::equal(results.begin(), results.begin() + 4, std::array<float, 4>{2, 4, 6, 8}.begin());
    const bool apart = std::all_of(results.begin() + 4, results.end(), [](float rest) { return rest == 0; });
    return {doubled ? "" : "computes wrong results", !apart};
  } catch (const Error& e) {
    return {std::string("cannot build and run a kernel (") + e.what() + ")"};
  }
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
