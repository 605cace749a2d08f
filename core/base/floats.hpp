// Holds a vector of floats with shared ownership. The floats may be part of a larger allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace mokume::base {

class Floats {
 public:
  Floats() = default;
  explicit Floats(uint64_t count) : first_(new float[count](), std::default_delete<float[]>()), count_(count) {}
  explicit Floats(std::span<const float> copied)
      : first_(new float[copied.size()], std::default_delete<float[]>()), count_(copied.size()) {
    std::copy(copied.begin(), copied.end(), first_.get());
  }
  Floats(std::shared_ptr<float> first, uint64_t count) : first_(std::move(first)), count_(count) {}

  // Returns floats whose values are undefined until somebody sets them.
  static Floats uninitialized(uint64_t count) {
    return {std::shared_ptr<float>(new float[count], std::default_delete<float[]>()), count};
  }

  // Returns a view of the caller's floats, which must outlive the result. Nobody may write through the view.
  static Floats view(std::span<const float> floats) {
    return {std::shared_ptr<float>(std::shared_ptr<float>(), const_cast<float*>(floats.data())), floats.size()};
  }

  uint64_t size() const { return count_; }
  std::span<float> span() const { return {first_.get(), count_}; }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  std::shared_ptr<float> first_;
  uint64_t count_ = 0;
};

}  // namespace mokume::base
