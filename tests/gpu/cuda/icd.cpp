// Implements an OpenCL driver for tests on top of NVIDIA's CUDA driver: see README.md. This file has the platform, its
// devices and contexts, and the queries of the loader.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "objects.hpp"

namespace mokume::cuda {
namespace {

// Returns the recorded card with the real device's numbers, which programs do not depend on.
pose::Card card_of(CUdevice device, pose::Card card) {
  const auto number = [&](int what) {
    int value = 0;
    check("cuDeviceGetAttribute", driver().cuDeviceGetAttribute(&value, what, device));
    return static_cast<cl_uint>(value);
  };
  std::array<char, 256> name{};
  size_t bytes = 0;
  int version = 0;
  check("cuDeviceGetName", driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device));
  check("cuDeviceTotalMem", driver().cuDeviceTotalMem_v2(&bytes, device));
  check("cuDriverGetVersion", driver().cuDriverGetVersion(&version));
  card.name = name.data();
  card.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ", cuda_icd";
  card.memory_bytes = bytes;
  card.buffer_bytes = bytes / 4;  // the vendor's OpenCL has this limit
  card.compute_units = number(kMultiprocessors);
  card.compute_capability = {number(kMajor), number(kMinor)};
  card.pci = {number(kPciDomain), number(kPciBus), number(kPciSlot), 0};
  return card;
}

void find_devices(_cl_platform_id& platform) {
  int count = 0;
  for (const CUresult result : {driver().cuInit(0), driver().cuDeviceGetCount(&count)})
    if (result != 0) throw std::runtime_error(name_of(result) + ": check the card with nvidia-smi");
  for (int i = 0; i < count; ++i) {
    auto device = std::make_unique<_cl_device_id>();
    check("cuDeviceGet", driver().cuDeviceGet(&device->device, i));
    device->platform = &platform;
    device->card = card_of(device->device, platform.card);
    platform.devices.push_back(std::move(device));
  }
}

// Returns nullptr if there is no platform.
cl_platform_id open_platform() {
  try {
    const char* folder = std::getenv("OPENCL_CUBINS");
    if (folder == nullptr) throw std::runtime_error("set OPENCL_CUBINS to a folder that bench/gpu/cubins made");
    load_driver();
    auto platform = std::make_unique<_cl_platform_id>();
    platform->cubins = folder;
    platform->card = pose::read_card(platform->cubins + "/card.toml");
    find_devices(*platform);
    return platform.release();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cuda_icd: %s\n", e.what());
    return nullptr;
  }
}

cl_int CL_API_CALL get_platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  static const cl_platform_id platform = open_platform();  // lives until the process ends, since destructors call last
  if (count != nullptr) *count = platform == nullptr ? 0 : 1;
  if (platform == nullptr) return CL_PLATFORM_NOT_FOUND_KHR;
  if (platforms != nullptr && entries > 0) *platforms = platform;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void* value,
                                     size_t* size_ret) {
  const pose::Answer posed = pose::platform_answer(platform->card, what);
  if (!posed.empty()) return pose::give(posed, size, value, size_ret);
  return answer(what, size, value, size_ret, CL_PLATFORM_ICD_SUFFIX_KHR, std::string("CUBIN"));
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                                  cl_uint* count) {
  const bool wanted = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
  const size_t found = wanted ? platform->devices.size() : 0;
  if (count != nullptr) *count = static_cast<cl_uint>(found);
  for (size_t i = 0; i < found && i < entries && devices != nullptr; ++i) devices[i] = platform->devices[i].get();
  return found == 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size, void* value,
                                   size_t* size_ret) {
  const pose::Card& card = device->card;
  const pose::Answer posed = pose::device_answer(card, what, card.memory_bytes, card.buffer_bytes);
  if (!posed.empty()) return pose::give(posed, size, value, size_ret);
  return answer(what, size, value, size_ret, CL_DEVICE_PLATFORM, device->platform, CL_DEVICE_AVAILABLE,
                cl_bool{CL_TRUE}, CL_DEVICE_COMPILER_AVAILABLE, cl_bool{CL_TRUE});
}

cl_context CL_API_CALL create_context(const cl_context_properties*, cl_uint count, const cl_device_id* devices,
                                      void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*,
                                      cl_int* error) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto context = std::make_unique<_cl_context>();
  if (count != 1) return made(context, CL_INVALID_VALUE, error);
  _cl_device_id& device = *(context->device = devices[0]);
  if (device.context != nullptr) return made(context, CL_SUCCESS, error);
  const CUresult result = driver().cuDevicePrimaryCtxRetain(&device.context, device.device);
  return made(context, check("cuDevicePrimaryCtxRetain", result), error);
}

// Names a function that the program calls but this driver lacks.
template <size_t Index>
void missing() {
  std::fprintf(stderr, "cuda_icd: function %zu of cl_icd_dispatch (CL/cl_icd.h) is not implemented\n", Index);
  std::abort();
}

template <size_t... Index>
void fill_table(cl_icd_dispatch& table, std::index_sequence<Index...>) {
  void (*const entries[])() = {missing<Index>...};
  std::memcpy(static_cast<void*>(&table), entries, sizeof(table));
}

void add_platform(cl_icd_dispatch& table) {
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateContext = create_context;
  table.clReleaseContext = release<cl_context>;
}

}  // namespace

cl_icd_dispatch* functions() {
  static cl_icd_dispatch table = [] {
    cl_icd_dispatch all;
    fill_table(all, std::make_index_sequence<sizeof(all) / sizeof(void*)>());
    for (const auto add : {add_platform, add_commands, add_programs}) add(all);
    return all;
  }();
  return &table;
}

}  // namespace mokume::cuda

// The loader looks up the first function by name, and requests the others from it.
extern "C" __attribute__((visibility("default"))) void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  using namespace mokume::cuda;
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(get_platform_ids);
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void*>(get_platform_info);
  return nullptr;
}
