// Holds tables of longs in device memory, which is filled from front to end in rounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/queue.hpp"

namespace mokume::opencl {

class Tables {
 public:
  cl_mem memory() const { return memory_.get(); }
  // Returns the offset of `table` in memory(), in longs. The offset is valid until the next round begins.
  int64_t write(mk_queue& queue, std::span<const int64_t> table);
  // Returns how often writing has restarted at the front.
  uint64_t round() const { return round_; }

 private:
  Memory memory_;
  std::vector<int64_t> mirror_;  // outlives the writes
  size_t used_ = 0;
  uint64_t round_ = 0;
};

}  // namespace mokume::opencl
