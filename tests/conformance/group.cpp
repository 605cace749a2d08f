#include "group.hpp"

#include <gtest/gtest.h>

namespace mokume::conformance {
namespace {

constexpr size_t kMembers = 3;

std::vector<Problem> members_like(const Problem& problem) {
  std::vector<Problem> members(kMembers, problem);
  for (size_t m = 1; m < kMembers; ++m) {
    mk_op& op = members[m].op;
    op.reals[0] *= 1 - static_cast<double>(m) / 8;
    for (uint32_t i = 0; i < op.n_inputs; ++i)
      if (op.inputs[i].dtype == MK_F32)
        members[m].change(
            op.inputs[i], m == 1 ? +[](float x) { return 0.75F * x; } : +[](float x) { return -x; });
  }
  return members;
}

}  // namespace

void expect_same_in_group(DeviceUnderTest& dut, const Problem& problem) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v1"));
  if (group == nullptr) return;
  const std::vector<Problem> members = members_like(problem);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<mk_buffer*> handles;
  for (size_t b = 0; b < problem.memory.size(); ++b) {
    Words all;
    for (const Problem& member : members) all.insert(all.end(), member.memory[b].begin(), member.memory[b].end());
    buffers.push_back(std::make_unique<Buffer>(dut, all));
    handles.push_back(buffers.back()->handle());
  }
  std::vector<mk_op> ops;
  for (size_t m = 0; m < kMembers; ++m) {
    mk_op op = members[m].bound(handles);
    const auto behind = [&](mk_tensor& t, const mk_tensor& name) {
      if (t.buffer != nullptr) t.offset += static_cast<int64_t>(m * problem.memory[Problem::memory_of(name)].size());
    };
    for (uint32_t i = 0; i < op.n_inputs; ++i) behind(op.inputs[i], problem.op.inputs[i]);
    for (uint32_t o = 0; o < op.n_outputs; ++o) behind(op.outputs[o], problem.op.outputs[o]);
    ops.push_back(op);
  }
  mk_error error{};
  ASSERT_EQ(group->submit(dut.queue(), ops.data(), static_cast<uint32_t>(ops.size()), nullptr, &error), MK_OK)
      << error.text;
  finish(dut);
  for (size_t m = 0; m < kMembers; ++m) {
    const std::vector<Words> alone = run(dut, members[m]);
    for (size_t b = 0; b < alone.size(); ++b) {
      const Words all = buffers[b]->read();
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(m * alone[b].size());
      EXPECT_TRUE(std::equal(alone[b].begin(), alone[b].end(), first))
          << "buffer " << b << " of member " << m << " has other bits than alone";
    }
  }
}

}  // namespace mokume::conformance
