#include "group/tables.hpp"

#include <algorithm>
#include <utility>

#include "runtime/device.hpp"
#include "runtime/wait.hpp"

namespace mokume::opencl {

int64_t Tables::write(mk_queue& queue, std::span<const int64_t> table) {
  constexpr size_t kLongs = size_t{1} << 18, kTables = 4;  // minimum sizes, so that the host rarely waits
  if (mirror_.size() < std::max(used_ + table.size(), kTables * table.size())) {
    finish(queue);  // afterwards nothing reads the replaced contents
    used_ = 0;
    ++round_;
    if (mirror_.size() < kTables * table.size()) {
      mirror_.resize(std::max(kLongs, kTables * table.size()));
      cl_int code = CL_SUCCESS;
      memory_.reset(clCreateBuffer(queue.device->context.get(), CL_MEM_READ_ONLY, mirror_.size() * sizeof(int64_t),
                                   nullptr, &code));
      check(code, "a table of arguments");
    }
  }
  std::copy(table.begin(), table.end(), mirror_.begin() + static_cast<std::ptrdiff_t>(used_));
  check(clEnqueueWriteBuffer(queue.handle.get(), memory_.get(), CL_FALSE, used_ * sizeof(int64_t),
                             table.size() * sizeof(int64_t), mirror_.data() + used_, 0, nullptr, nullptr),
        "a table of arguments");
  return static_cast<int64_t>(std::exchange(used_, used_ + table.size()));
}

}  // namespace mokume::opencl
