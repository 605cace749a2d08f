// Keeps data that ops compute from a view alone, such as transformed weights, until the view's buffer changes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/buffer.hpp"

namespace mokume::opencl {

class KeptMemory {
 public:
  // Returns memory that contains the result of make(memory), or NULL if there is no room. `what` identifies the result,
  // together with the offset and the shape of the view.
  cl_mem get(mk_device& device, const mk_tensor& of, const char* what, uint64_t bytes,
             const std::function<void(cl_mem)>& make);
  // Returns the result of an earlier get() if it is still valid, else NULL.
  cl_mem find(const mk_tensor& of, const char* what);
  // Returns how often get() has computed something.
  uint64_t changes() const { return changes_; }

 private:
  struct Derived {
    std::string key;
    uint64_t version;  // the source buffer's version when make() ran
    uint64_t used;     // larger means more recent
    mk_buffer memory;
  };
  Derived* found(const std::string& key, uint64_t version);
  Derived* entry_for(mk_device& device, const std::string& key, uint64_t bytes);

  std::vector<Derived> derived_;
  uint64_t uses_ = 0, changes_ = 0;
};

}  // namespace mokume::opencl
