// Device memory of networks that train side by side: every buffer has room for all of them, one behind the other, so
// that their ops differ only in where their operands are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sdk/device.hpp"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

// One network's part of a buffer, in elements of 4 bytes. The buffer lives as long as a part of it does.
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
  // Both block.
  template <class T>
  void write(const sdk::Device& device, const T* from, uint64_t count, uint64_t offset = 0) const {
    device.write(*buffer_, from, count, static_cast<uint64_t>(offset_) + offset);
  }
  template <class T>
  void read(const sdk::Device& device, T* to, uint64_t count, uint64_t offset = 0) const {
    device.read(*buffer_, to, count, static_cast<uint64_t>(offset_) + offset);
  }

 private:
  std::shared_ptr<const sdk::Buffer> buffer_;
  int64_t offset_ = 0;
};

// Gives memory to one network after the other, each of which asks for the same. Used while they are made.
class SharedMemory {
 public:
  explicit SharedMemory(const sdk::Device& device, int64_t members = 1) : device_(device), members_(members) {}

  // What is asked for next is the next network's.
  void next_member() {
    ++member_;
    next_ = 0;
  }

  // Room for `count` elements of 4 bytes, with undefined contents.
  Slice take(int64_t count) {
    constexpr int64_t kLine = 64;  // elements: no two networks write to one line of a cache
    const int64_t each = std::max<int64_t>((count + kLine - 1) / kLine, 1) * kLine;
    if (member_ == 0) {
      const int64_t all = members_ == 1 ? std::max<int64_t>(count, 1) : members_ * each;
      taken_.push_back({std::make_shared<sdk::Buffer>(device_.buffer<float>(static_cast<uint64_t>(all))), each});
    }
    const Taken& t = taken_.at(next_++);
    if (each > t.each || member_ >= members_) throw Error(MK_INTERNAL, "networks of unequal shape share memory");
    return {t.buffer, member_ * t.each};
  }

 private:
  struct Taken {
    std::shared_ptr<const sdk::Buffer> buffer;
    int64_t each;
  };
  sdk::Device device_;
  int64_t members_, member_ = 0;
  size_t next_ = 0;
  std::vector<Taken> taken_;
};

}  // namespace mokume::cnn
