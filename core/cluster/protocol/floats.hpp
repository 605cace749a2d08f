// The floats that the members of a team give and get, as they lie in the frames between its processes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mokume::cluster {

// Floats that several may hold, alone or among other bytes.
class Floats {
 public:
  Floats() = default;
  explicit Floats(uint64_t count) : first_(new float[count](), std::default_delete<float[]>()), count_(count) {}
  explicit Floats(std::span<const float> copied) : Floats(copied.size()) {
    std::copy(copied.begin(), copied.end(), first_.get());
  }
  Floats(std::shared_ptr<float> first, uint64_t count) : first_(std::move(first)), count_(count) {}

  uint64_t size() const { return count_; }
  std::span<float> span() const { return {first_.get(), count_}; }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  std::shared_ptr<float> first_;
  uint64_t count_ = 0;
};

struct Block {
  uint32_t first = 0, size = 1;  // leaves
  Floats values;
};

// What a member gave to the sum of this number.
struct Gift {
  uint32_t member = 0;
  uint64_t number = 0;  // of the sum, from 0
  uint64_t count = 0;
  std::vector<Block> blocks;
};

}  // namespace mokume::cluster
