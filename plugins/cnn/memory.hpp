// Allocates device memory for a stack of networks that train together. Every buffer has consecutive parts for all
// networks, so that their ops differ only in the offsets of their operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sdk/device.hpp"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

// Refers to one network's part of a buffer, in elements of 4 bytes. A slice keeps the buffer alive.
class Slice {
 public:
  Slice() = default;
  Slice(std::shared_ptr<const sdk::Buffer> buffer, int64_t offset) : buffer_(std::move(buffer)), offset_(offset) {}

  mk_tensor matrix(int64_t rows, int64_t columns, int64_t offset = 0, mk_dtype dtype = MK_F32) const {
    return sdk::matrix(buffer_->get(), rows, columns, 0, offset_ + offset, dtype);
  }
  mk_tensor vector(int64_t size, int64_t offset = 0, mk_dtype dtype = MK_F32) const {
    return sdk::vector(buffer_->get(), size, offset_ + offset, dtype);
  }
  bool in_host_memory(const sdk::Device& device) const { return device.host_pointer<float>(*buffer_) != nullptr; }
  // Both calls block.
  template <class T>
  void write(const sdk::Device& device, const T* from, int64_t count, int64_t offset = 0) const {
    device.write(*buffer_, from, uint64_t(count), uint64_t(offset_ + offset));
  }
  template <class T>
  void read(const sdk::Device& device, T* to, int64_t count, int64_t offset = 0) const {
    device.read(*buffer_, to, uint64_t(count), uint64_t(offset_ + offset));
  }

 private:
  std::shared_ptr<const sdk::Buffer> buffer_;
  int64_t offset_ = 0;
};

// Allocates memory for one network at a time. All networks must request the same sizes.
class StackMemory {
 public:
  explicit StackMemory(const sdk::Device& device, int64_t networks = 1) : device_(device), networks_(networks) {}

  // Later requests belong to the next network.
  void next_network() {
    ++network_;
    next_ = 0;
  }

  // Returns memory for `count` elements of 4 bytes with undefined contents.
  Slice take(int64_t count) {
    constexpr int64_t kLine = 64;  // in elements; networks do not share cache lines
    const int64_t each = std::max<int64_t>((count + kLine - 1) / kLine, 1) * kLine;
    if (network_ == 0) {
      const int64_t all = networks_ == 1 ? std::max<int64_t>(count, 1) : networks_ * each;
      taken_.push_back({std::make_shared<sdk::Buffer>(device_.buffer<float>(all)), each});
    }
    const Taken& t = taken_.at(next_++);
    if (each > t.each || network_ >= networks_) throw Error(MK_INTERNAL, "networks of unequal shape share memory");
    return {t.buffer, network_ * t.each};
  }

 private:
  struct Taken {
    std::shared_ptr<const sdk::Buffer> buffer;
    int64_t each;
  };
  sdk::Device device_;
  int64_t networks_, network_ = 0;
  size_t next_ = 0;
  std::vector<Taken> taken_;
};

}  // namespace mokume::cnn
