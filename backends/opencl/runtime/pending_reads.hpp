// Holds the reads of a GPU's memory that finish() completes. The device writes to the queue's memory and not to the
// caller's, because a caller that gives up on a device frees its own memory while the device may still write.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace mokume::opencl {

class PendingReads {
 public:
  // Returns memory for the `bytes` bytes that the device writes. complete() copies them to `to`.
  std::byte* add(void* to, size_t bytes) {
    return reads_.emplace_back(Read{std::make_unique_for_overwrite<std::byte[]>(bytes), to, bytes}).from.get();
  }
  void complete() {
    for (const Read& read : reads_) std::memcpy(read.to, read.from.get(), read.bytes);
    reads_.clear();
  }
  // Leaks the memory, because the device may still write to it.
  void abandon() {
    for (Read& read : reads_) static_cast<void>(read.from.release());
    reads_.clear();
  }

 private:
  struct Read {
    std::unique_ptr<std::byte[]> from;
    void* to;
    size_t bytes;
  };
  std::vector<Read> reads_;
};

}  // namespace mokume::opencl
