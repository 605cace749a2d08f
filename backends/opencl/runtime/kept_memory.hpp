// What ops compute from a view alone, such as transformed weights, kept until the view's buffer is written to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/buffer.hpp"

namespace mokume::opencl {

class KeptMemory {
 public:
  // Memory with what make(memory) computes; NULL where there is no room. `what` names it, together with the offset and
  // the shape of the view.
  cl_mem get(mk_device& device, const mk_tensor& of, const char* what, uint64_t bytes,
             const std::function<void(cl_mem)>& make);

 private:
  struct Derived {
    std::string key;
    uint64_t version;  // of the buffer it was made from
    uint64_t used;     // the larger, the later
    mk_buffer memory;
  };
  Derived* entry_for(mk_device& device, const std::string& key, uint64_t bytes);

  std::vector<Derived> derived_;
  uint64_t uses_ = 0;
};

}  // namespace mokume::opencl
