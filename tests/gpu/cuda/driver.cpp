#include "driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>

namespace mokume::cuda {
namespace {

Driver loaded;

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no ") + name + ": it is too old");
}

}  // namespace

void load_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(std::string(dlerror()) + ": name the folder of NVIDIA's driver in LD_LIBRARY_PATH");
#define CUDA_FIND(name, arguments) find(library, #name, loaded.name);
  CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
}

const Driver& driver() { return loaded; }

std::string name_of(CUresult result) {
  const char* name = nullptr;
  return loaded.cuGetErrorName(result, &name) == 0 && name != nullptr ? name : "error " + std::to_string(result);
}

cl_int check(const char* what, CUresult result) {
  if (result == 0) return CL_SUCCESS;
  std::fprintf(stderr, "cuda_icd: %s: %s\n", what, name_of(result).c_str());
  return result == kOutOfMemory ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_OUT_OF_RESOURCES;
}

}  // namespace mokume::cuda
