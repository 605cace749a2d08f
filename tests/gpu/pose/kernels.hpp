// Stores the kernels of this process, and decides which launches the card refuses.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "card.hpp"

namespace mokume::pose {

// Describes a launch in three dimensions.
struct Grid {
  Grid(const Card& card, cl_uint dimensions, const size_t* global, const size_t* local);

  std::array<size_t, 3> global{1, 1, 1}, group{1, 1, 1};
  bool even = true;  // each global size is a multiple of its group's size
};

// Returns CL_SUCCESS, or the card's error code.
cl_int refusal(const Card& card, const Grid& grid, size_t local_bytes, size_t parameter_bytes);

// Stores arguments as they are set. Any thread may call any function.
class Kernels {
 public:
  struct Kernel {
    std::string name, program;         // name, and hash of the program
    std::map<cl_uint, size_t> values;  // bytes of each argument
    std::map<cl_uint, size_t> locals;  // bytes of local memory

    size_t value_bytes() const;
    size_t local_bytes() const;
  };

  // `describe` sets the name and the program of a new kernel.
  template <class Describe>
  Kernel& at(cl_kernel kernel, const Describe& describe) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = kernels_.try_emplace(kernel);
    if (is_new) describe(found->second);
    return found->second;  // OpenCL requires that one thread at a time uses a kernel
  }
  void forget(cl_kernel kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.erase(kernel);
  }

 private:
  std::mutex mutex_;
  std::map<cl_kernel, Kernel> kernels_;
};

}  // namespace mokume::pose
