// Remembers the sequence of a group of one member, such as a network that predicts, which submits the same ops again
// and again. Nothing is recorded for the same ops in the same memory.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "abi/op.h"
#include "group/sequence.hpp"
#include "runtime/queue.hpp"

namespace mokume::opencl {

class RepeatedSequence {
 public:
  // Returns whether sequence() holds these ops as they would be recorded now.
  bool holds(const mk_queue& queue, std::span<const mk_op> ops) const;
  // Makes sequence() hold the ops that were recorded in `space`.
  void hold(const mk_queue& queue, std::span<const mk_op> ops, const MemberSpace& space);
  void forget() { ops_.clear(); }
  Sequence& sequence() { return sequence_; }

 private:
  Sequence sequence_;
  std::vector<mk_op> ops_;
  std::vector<cl_mem> operands_;
  std::vector<std::pair<const mk_buffer*, uint64_t>> kept_of_;
  uint64_t memory_changes_ = 0;
};

}  // namespace mokume::opencl
