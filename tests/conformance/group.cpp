#include "group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace mokume::conformance {
namespace {

constexpr uint32_t kAnyNan = 0x7fc00000;

std::vector<Problem> members_like(const Problem& problem, size_t count) {
  std::vector<Problem> members(count, problem);
  for (size_t m = 1; m < count; ++m) {
    mk_op& op = members[m].op;
    const std::span<const ops::Attribute> all = ops::rule(op.code).attributes;
    const auto real =
        std::find_if(all.begin(), all.end(), [](const auto& a) { return a.kind == ops::Attribute::real; });
    if (real != all.end()) {
      int64_t& word = op.attributes[real - all.begin()];
      word = std::bit_cast<int64_t>(std::bit_cast<double>(word) * (1 - static_cast<double>(m) / 8));
    }
    for (uint32_t i = 0; i < op.n_inputs; ++i)
      if (op.inputs[i].dtype == MK_F32)
        members[m].change(
            op.inputs[i], m == 1 ? +[](float x) { return 0.75F * x; } : +[](float x) { return -x; });
  }
  return members;
}

// Makes all NaNs that an op computed alike, because a compiler chooses which operand's sign and payload a NaN takes,
// and may choose differently for the same source in another kernel. Unwritten elements and guards remain distinct.
void unify_nans(const Problem& problem, std::vector<Words>& memory) {
  for (uint32_t o = 0; o < problem.op.n_outputs; ++o) {
    const mk_tensor& out = problem.op.outputs[o];
    if (out.dtype != MK_F32) continue;
    for (int64_t r = 0; r < out.rows; ++r)
      for (int64_t c = 0; c < out.columns; ++c) {
        uint32_t& word = memory[Problem::memory_of(out)][Problem::place(out, r, c)];
        if (std::isnan(as_float(word)) && word != kUnwritten && word != kGuard) word = kAnyNan;
      }
  }
}

}  // namespace

void expect_same_in_group(DeviceUnderTest& dut, const std::vector<Problem>& problems, size_t count) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v2"));
  if (group == nullptr) return;
  // members[m][p] is problem p of member m; `begins` holds the place of each member's memory in one buffer.
  std::vector<std::vector<Problem>> members(count);
  for (const Problem& problem : problems) {
    std::vector<Problem> alike = members_like(problem, count);
    for (size_t m = 0; m < count; ++m) members[m].push_back(std::move(alike[m]));
  }
  Words all;
  std::vector<std::vector<std::vector<size_t>>> begins(count);
  for (size_t m = 0; m < count; ++m)
    for (const Problem& problem : members[m]) {
      std::vector<size_t>& begin = begins[m].emplace_back();
      for (const Words& memory : problem.memory) {
        // Members begin on cache lines, as in stacks of networks, so that a kernel for aligned operands suits all.
        constexpr size_t kLine = 16;
        all.resize((all.size() + kLine - 1) / kLine * kLine);
        begin.push_back(all.size());
        all.insert(all.end(), memory.begin(), memory.end());
      }
    }
  const Buffer buffer(dut, all);
  std::vector<std::vector<mk_op>> ops(count);
  std::vector<const mk_op*> first;
  for (size_t m = 0; m < count; ++m) {
    for (size_t p = 0; p < problems.size(); ++p) {
      const Problem& problem = members[m][p];
      mk_op op = problem.bound(std::vector<mk_buffer*>(problem.memory.size(), buffer.handle()));
      const auto place = [&](mk_tensor& t, const mk_tensor& name) {
        if (t.buffer != nullptr) t.offset += static_cast<int64_t>(begins[m][p][Problem::memory_of(name)]);
      };
      for (uint32_t i = 0; i < op.n_inputs; ++i) place(op.inputs[i], problem.op.inputs[i]);
      for (uint32_t o = 0; o < op.n_outputs; ++o) place(op.outputs[o], problem.op.outputs[o]);
      ops[m].push_back(op);
    }
    first.push_back(ops[m].data());
  }
  mk_error error{};
  ASSERT_EQ(group->submit(dut.queue(), first.data(), static_cast<uint32_t>(count),
                          static_cast<uint32_t>(problems.size()), nullptr, &error),
            MK_OK)
      << error.text;
  finish(dut);
  const Words got = buffer.read();
  for (size_t m = 0; m < count; ++m)
    for (size_t p = 0; p < problems.size(); ++p) {
      const Problem& problem = members[m][p];
      std::vector<Words> alone = run(dut, problem), grouped;
      for (size_t b = 0; b < alone.size(); ++b) {
        const auto begin = got.begin() + static_cast<std::ptrdiff_t>(begins[m][p][b]);
        grouped.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(alone[b].size()));
      }
      unify_nans(problem, alone);
      unify_nans(problem, grouped);
      for (size_t b = 0; b < alone.size(); ++b)
        EXPECT_TRUE(alone[b] == grouped[b]) << "buffer " << b << " of member " << m << ", op " << p << " ("
                                            << ops::rule(problem.op.code).name << "), has other bits than alone";
    }
}

}  // namespace mokume::conformance
