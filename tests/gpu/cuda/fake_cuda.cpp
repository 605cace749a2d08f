// Imitates libcuda.so.1 for tests: memory is the host's, commands finish at once, handles and sizes are checked, and no
// kernel runs except the backend's probe of a device. FAKE_CUDA_LOG names a file that gets a line for each launch:
// "NAME GX GY GZ X Y Z LOCAL_BYTES", and the bytes of the arguments in hexadecimal if the module is PTX, which contains
// their sizes. A last line, "left N", counts the remaining objects.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "driver.hpp"

namespace mokume::cuda {

struct CUfunc_st {
  std::string name;
  std::vector<size_t> sizes;  // sizes of the arguments, if the module is PTX
};

struct CUmod_st {
  std::string image;
  std::map<std::string, CUfunc_st> functions;
};

struct CUevent_st {
  std::chrono::steady_clock::time_point at;
  bool recorded;
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr CUresult kSuccess = 0, kInvalidValue = 1, kInvalidImage = 200, kInvalidContext = 201, kInvalidHandle = 400,
                   kNotFound = 500;
int context = 0;  // the address of this variable is the handle
thread_local bool is_current = false;
std::mutex mutex;
std::map<CUdeviceptr, size_t> memory;
std::set<const void*> handles;

bool inside(CUdeviceptr at, size_t bytes) {
  const std::lock_guard lock(mutex);
  auto found = memory.upper_bound(at);
  if (found == memory.begin()) return false;
  --found;
  return at + bytes <= found->first + found->second;
}

bool known(const void* handle) {
  const std::lock_guard lock(mutex);
  return handles.count(handle) == 1;
}

template <class T>
CUresult create(T** to, T* handle) {
  if (!is_current) return kInvalidContext;
  const std::lock_guard lock(mutex);
  handles.insert(*to = handle);
  return kSuccess;
}

template <class T>
CUresult destroy(T* handle) {
  if (!is_current) return kInvalidContext;
  const std::lock_guard lock(mutex);
  if (handles.erase(handle) == 0) return kInvalidHandle;
  delete handle;
  return kSuccess;
}

CUresult allocate(CUdeviceptr* to, size_t bytes) {
  if (!is_current) return kInvalidContext;
  if (bytes > size_t{1} << 32) return kOutOfMemory;
  *to = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
  const std::lock_guard lock(mutex);
  memory[*to] = bytes;
  return kSuccess;
}

CUresult deallocate(CUdeviceptr at) {
  const std::lock_guard lock(mutex);
  if (!is_current || memory.erase(at) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(at));
  return kSuccess;
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, bool valid) {
  if (!is_current || !valid) return is_current ? kInvalidValue : kInvalidContext;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

CUdeviceptr address(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }

// Returns the size of an argument declared as ".param .align 8 .b8 NAME[24]" or ".param .u64 NAME".
size_t size_of(const char* argument) {
  size_t bits = 0, count = 1;
  if (std::sscanf(argument, ".param .align %*u .b%zu %*[^[][%zu]", &bits, &count) < 1)
    std::sscanf(argument, ".param .%*[bsuf]%zu", &bits);
  return bits / 8 * count;
}

// PTX names the kernels with their arguments, and a cubin has a section for each kernel.
bool find_function(CUmod_st& module, const std::string& name) {
  if (module.functions.count(name) == 1) return true;
  const bool ptx = module.image.compare(0, 4, "\177ELF") != 0;
  const std::string section = ".text." + name;
  const std::string start = ptx ? ".entry " + name + "(" : std::string(section.c_str(), section.size() + 1);
  const size_t begin = module.image.find(start), end = module.image.find(')', begin);
  if (begin == std::string::npos) return false;
  CUfunc_st& function = module.functions[name] = {name, {}};
  for (size_t at = begin; ptx && (at = module.image.find(".param", at)) < end; ++at)
    function.sizes.push_back(size_of(module.image.c_str() + at));
  return true;
}

// A cubin ends with the section headers, so its header gives its size.
std::string image_at(const void* data) {
  const auto* const bytes = static_cast<const char*>(data);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) return bytes;
  uint64_t offset = 0;
  uint16_t entry = 0, count = 0;
  std::memcpy(&offset, bytes + 0x28, sizeof(offset));
  std::memcpy(&entry, bytes + 0x3A, sizeof(entry));
  std::memcpy(&count, bytes + 0x3C, sizeof(count));
  return {bytes, offset + uint64_t{entry} * count};
}

// Doubles four numbers, as the kernel in backends/opencl/platforms/describe.cpp does.
void run_probe(void** arguments) {
  std::array<CUdeviceptr, 2> at{};
  for (size_t i = 0; i < at.size(); ++i) std::memcpy(&at[i], arguments[i], sizeof(at[i]));
  for (int i = 0; i < 4; ++i) reinterpret_cast<float*>(at[1])[i] = 2 * reinterpret_cast<const float*>(at[0])[i];
}

void log_line(const std::string& line) {
  const char* path = std::getenv("FAKE_CUDA_LOG");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fputs((line + "\n").c_str(), file);
  std::fclose(file);
}

__attribute__((destructor)) void count_rest() { log_line("left " + std::to_string(memory.size() + handles.size())); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
#define CUDA_DECLARE(name, arguments) CUresult name arguments;
CUDA_FUNCTIONS(CUDA_DECLARE)
#undef CUDA_DECLARE
#pragma GCC visibility pop

CUresult cuInit(unsigned) { return kSuccess; }
CUresult cuDriverGetVersion(int* version) { return *version = 12080, kSuccess; }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "CUDA_ERROR_OF_THE_FAKE", kSuccess; }
CUresult cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, kSuccess; }
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) { return *bytes = size_t{4} << 30, kSuccess; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* to, CUdevice) {
  return *to = reinterpret_cast<CUcontext>(&context), kSuccess;
}
CUresult cuCtxSetCurrent(CUcontext to) {
  is_current = to == reinterpret_cast<CUcontext>(&context);
  return is_current ? kSuccess : kInvalidContext;
}
CUresult cuCtxSynchronize() { return is_current ? kSuccess : kInvalidContext; }

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  return std::snprintf(name, static_cast<size_t>(length), "Fake H200"), kSuccess;
}

CUresult cuDeviceGetAttribute(int* value, int what, CUdevice) {
  // The recorded programs are those of a card with as many cores (pose/cards/nvidia-h200.toml).
  *value = what == kMultiprocessors ? 132 : what == kMajor ? 9 : what == kPciBus ? 0x1b : 0;
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* to, size_t bytes) { return allocate(to, bytes); }
CUresult cuMemFree_v2(CUdeviceptr at) { return deallocate(at); }
CUresult cuMemHostAlloc(void** to, size_t bytes, unsigned) {
  return allocate(reinterpret_cast<CUdeviceptr*>(to), bytes);
}
CUresult cuMemFreeHost(void* at) { return deallocate(address(at)); }
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return copy(to, address(from), bytes, inside(to, bytes));
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy(to, address(from), bytes, inside(to, bytes) && known(stream));
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(address(to), from, bytes, inside(from, bytes) && known(stream));
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(to, from, bytes, inside(to, bytes) && inside(from, bytes) && known(stream));
}

CUresult cuStreamCreate(CUstream* to, unsigned) { return create(reinterpret_cast<int**>(to), new int(0)); }
CUresult cuStreamDestroy_v2(CUstream stream) { return destroy(reinterpret_cast<int*>(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return known(stream) ? kSuccess : kInvalidHandle; }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return known(stream) && known(event) && event->recorded ? kSuccess : kInvalidHandle;
}

CUresult cuEventCreate(CUevent* to, unsigned) { return create(to, new CUevent_st{{}, false}); }
CUresult cuEventDestroy_v2(CUevent event) { return destroy(event); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (!known(event) || !known(stream)) return kInvalidHandle;
  *event = {Clock::now(), true};
  return kSuccess;
}
CUresult cuEventQuery(CUevent event) { return known(event) && event->recorded ? kSuccess : kInvalidHandle; }
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  if (!known(start) || !known(end)) return kInvalidHandle;
  *ms = std::chrono::duration<float, std::milli>(end->at - start->at).count();
  return kSuccess;
}

CUresult cuModuleLoadData(CUmodule* to, const void* data) {
  std::string image = image_at(data);
  if (image.find(".text.") == std::string::npos && image.find(".entry ") == std::string::npos) return kInvalidImage;
  return create(to, new CUmod_st{std::move(image), {}});
}
CUresult cuModuleUnload(CUmodule module) { return destroy(module); }
CUresult cuModuleGetFunction(CUfunction* to, CUmodule module, const char* name) {
  if (!known(module) || !find_function(*module, name)) return kNotFound;
  *to = &module->functions.at(name);
  return kSuccess;
}
CUresult cuFuncGetAttribute(int* value, int, CUfunction) { return *value = 1024, kSuccess; }

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned group_x,
                        unsigned group_y, unsigned group_z, unsigned local_bytes, CUstream stream, void** arguments,
                        void**) {
  if (!is_current || !known(stream)) return is_current ? kInvalidHandle : kInvalidContext;
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || group_x * group_y * group_z == 0) return kInvalidValue;
  std::string line = function->name;
  for (const unsigned n : {grid_x, grid_y, grid_z, group_x, group_y, group_z, local_bytes})
    line += " " + std::to_string(n);
  for (size_t i = 0; i < function->sizes.size(); ++i) {
    line += " ";
    for (size_t k = 0; k < function->sizes[i]; ++k) {
      std::array<char, 3> hex{};
      std::snprintf(hex.data(), hex.size(), "%02x", static_cast<const unsigned char*>(arguments[i])[k]);
      line += hex.data();
    }
  }
  if (function->name == "probe") run_probe(arguments);
  log_line(line);
  return kSuccess;
}
}

}  // namespace mokume::cuda
