#include "group/repeated.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/buffer.hpp"

namespace mokume::opencl {
namespace {

template <class Body>
void for_operands(std::span<const mk_op> ops, Body&& body) {
  for (const mk_op& op : ops) {
    for (uint32_t i = 0; i < op.n_inputs; ++i) body(memory(op.inputs[i]));
    for (uint32_t o = 0; o < op.n_outputs; ++o) body(memory(op.outputs[o]));
  }
}

}  // namespace

bool RepeatedSequence::holds(const mk_queue& queue, std::span<const mk_op> ops) const {
  if (ops_.empty() || ops_.size() != ops.size() || memory_changes_ != queue.memory_changes() ||
      std::memcmp(ops_.data(), ops.data(), ops.size_bytes()) != 0)
    return false;
  // A new buffer may have the address of one that was released.
  size_t operand = 0;
  bool same = true;
  for_operands(ops, [&](cl_mem memory) { same = operands_[operand++] == memory && same; });
  return same && std::all_of(kept_of_.begin(), kept_of_.end(),
                             [](const auto& kept) { return kept.first->version == kept.second; });
}

void RepeatedSequence::hold(const mk_queue& queue, std::span<const mk_op> ops, const MemberSpace& space) {
  ops_.assign(ops.begin(), ops.end());
  operands_.clear();
  for_operands(ops, [&](cl_mem memory) { operands_.push_back(memory); });
  kept_of_ = space.kept_of;
  memory_changes_ = queue.memory_changes();
}

}  // namespace mokume::opencl
