// Completes a symmetric matrix, one half of which is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "matrix/kernel_plan.hpp"
#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "shared_memory.hpp"

namespace mokume::svc {

// Refers to the part of a buffer that starts at element `at`.
struct MatrixPart {
  const sdk::Buffer& buffer;
  int64_t at;
};

// Waits for the device, and returns the address of a part. Throws Error(MK_UNSUPPORTED) if the device does not share
// its memory with the host.
template <class T>
T* shared_memory(const sdk::Device& device, const MatrixPart& part) {
  device.finish();
  return shared_memory<T>(device, part.buffer.get()) + part.at;
}

class Mirror {
 public:
  Mirror(const sdk::Host& host, const sdk::Device& device, Storage storage);

  // Sets to[c][r] = from[r][c] for `rows` rows and `columns` columns of `from`, which has floats; `to` has values of
  // the storage. Both parts have rows of stride `ld` and do not overlap. Throws Error(MK_UNSUPPORTED) if the device
  // neither compiles kernels nor shares its memory.
  void copy(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns, int64_t ld) const;

 private:
  void copy_on_host(const MatrixPart& from, const MatrixPart& to, int64_t rows, int64_t columns, int64_t ld) const;

  sdk::Host host_;
  const sdk::Device& device_;
  Storage storage_;
  std::optional<sdk::Program> program_;
};

}  // namespace mokume::svc
