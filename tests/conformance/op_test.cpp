#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "bits.hpp"
#include "group.hpp"
#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

// Everything outside the output views must be unchanged: guards, gaps between rows, and the inputs.
void expect_guards_kept(const Problem& problem, const std::vector<Words>& got) {
  std::vector<Words> expected = problem.memory;
  for (uint32_t o = 0; o < problem.op.n_outputs; ++o) {
    const mk_tensor& out = problem.op.outputs[o];
    const size_t memory = Problem::memory_of(out);
    for (int64_t r = 0; r < out.rows; ++r)
      for (int64_t c = 0; c < out.columns; ++c) {
        const size_t at = Problem::place(out, r, c);
        expected[memory][at] = got[memory][at];
      }
  }
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t at = 0; at < expected[i].size(); ++at)
      ASSERT_EQ(got[i][at], expected[i][at])
          << "element " << at << " of buffer " << i << " is outside the outputs but was written";
}

// Any NaN matches a NaN, except the patterns that mark an unwritten element, or a guard that was read.
bool close(uint32_t got_word, uint32_t want_word, double tolerance) {
  if (got_word == want_word) return true;
  const double got = as_float(got_word), want = as_float(want_word);
  if (std::isnan(want)) return std::isnan(got) && got_word != kUnwritten && got_word != kGuard;
  if (tolerance == 0 || std::isinf(want)) return tolerance != 0 && got == want;
  constexpr double kSmallestNormal = 0x1p-126;  // a device may or may not treat smaller values as zeros
  return got == want || std::fabs(got - want) <= std::max(tolerance, kSmallestNormal);
}

// `scale` is empty for exact outputs.
void expect_close(const Problem& problem, uint32_t output, const std::vector<Words>& got,
                  const std::vector<Words>& want, const std::vector<double>& scale) {
  const mk_tensor& out = problem.op.outputs[output];
  const bool integers = out.dtype == MK_I32;
  const double tolerance = ops::rule(problem.op.code).tolerance(problem.op);
  const auto text = [integers](uint32_t word) {
    std::ostringstream written;
    if (integers) {
      written << static_cast<int32_t>(word);
    } else {
      written << as_float(word);
    }
    return written.str();
  };
  const size_t memory = Problem::memory_of(out);
  int wrong = 0;
  std::ostringstream first;
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) {
      const size_t at = Problem::place(out, r, c);
      const double allowed = scale.empty() ? 0 : tolerance * scale[static_cast<size_t>(r * out.columns + c)];
      const uint32_t a = got[memory][at], b = want[memory][at];
      if (integers ? a == b : close(a, b, allowed)) continue;
      if (++wrong <= 5)
        first << "\n  (" << r << ", " << c << "): " << text(a) << ", oracle " << text(b) << ", allowed difference "
              << allowed;
    }
  EXPECT_EQ(wrong, 0) << ops::text(problem.op) << ": of " << out.rows * out.columns << " elements of output " << output
                      << "; the first:" << first.str();
}

// Returns whether the devices compute with strict numerics (docs/explained/numbers.md).
bool strict() {
  const char* choices = std::getenv("MOKUME_TEST_CHOICES");
  return choices != nullptr && std::string(choices).find("numerics=strict") != std::string::npos;
}

// Returns whether the device leaves this op to the host backend.
bool denied(DeviceUnderTest& dut, const Problem& problem) {
  return dut.table().supports(dut.device(), &problem.op) == MK_SUPPORT_NO;
}

void check_case(Machine& machine, DeviceUnderTest& dut, const OpCases& op, const Case& one) {
  const Problem problem = one.make();
  EXPECT_EQ(one.size == Size::large, problem.largest_buffer_bytes() >= uint64_t{64} << 20) << "large is 64 MiB or more";
  if (problem.largest_buffer_bytes() > dut.info().max_buffer_bytes) GTEST_SKIP() << kSmallBuffers;
  if (denied(dut, problem)) GTEST_SKIP() << kUnsupportedOp;

  const std::vector<Words> got = run(dut, problem);
  expect_guards_kept(problem, got);
  if (::testing::Test::HasFatalFailure()) return;
  expect_near_oracle(machine, op, problem, got);
  keep_or_expect_bits(std::string(ops::rule(op.code).name) + "." + one.name, got);
  EXPECT_TRUE(run(dut, problem) == got) << "the same op gave other bits the second time";
  if (strict() && &dut != &machine.oracle()) expect_same_values(problem, got, run(*machine.find("host", 0), problem));
  if (one.size == Size::large) return;
  const size_t said = machine.host().lines().size();
  expect_same_in_group(dut, {problem});
  const std::vector<test::LogLine> lines = machine.host().lines();
  for (size_t l = said; l < lines.size(); ++l)
    EXPECT_EQ(lines[l].text.find("the members of a group run one by one"), std::string::npos) << lines[l].text;
}

}  // namespace

void expect_same_values(const Problem& problem, const std::vector<Words>& got, const std::vector<Words>& want) {
  for (uint32_t o = 0; o < problem.op.n_outputs; ++o) {
    const mk_tensor& out = problem.op.outputs[o];
    const size_t memory = Problem::memory_of(out);
    const auto same = [&](uint32_t a, uint32_t b) {
      if (a == b || out.dtype == MK_I32) return a == b;
      const float x = as_float(a), y = as_float(b);
      return x == y || (std::isnan(x) && std::isnan(y));
    };
    int wrong = 0;
    std::ostringstream first;
    for (int64_t r = 0; r < out.rows; ++r)
      for (int64_t c = 0; c < out.columns; ++c) {
        const size_t at = Problem::place(out, r, c);
        const uint32_t a = got[memory][at], b = want[memory][at];
        if (!same(a, b) && ++wrong <= 3)
          first << "\n  (" << r << ", " << c << "): " << std::hexfloat << as_float(a) << ", host " << as_float(b);
      }
    EXPECT_EQ(wrong, 0) << "strict: " << ops::text(problem.op) << ": of " << out.rows * out.columns
                        << " elements of output " << o << " differ from the host's; the first:" << first.str();
  }
}

void expect_near_oracle(Machine& machine, const OpCases& op, const Problem& problem, const std::vector<Words>& got) {
  const std::vector<Words> want = run(machine.oracle(), problem);
  for (uint32_t o = 0; o < problem.op.n_outputs; ++o) {
    const mk_tensor& out = problem.op.outputs[o];
    const bool exact = !op.scale || out.dtype == MK_I32 || sdk::empty(out);
    expect_close(problem, o, got, want, exact ? std::vector<double>{} : op.scale(problem, o, want, machine));
  }
}

// Adds the tests of all ops. Each reason for leaving out cases shows as one skipped test with the number of cases.
void add_op_tests(Machine& machine, DeviceUnderTest& dut) {
  std::map<std::string, int> left_out;
  for (const OpCases& op : all_cases())
    for (const Case& one : op.cases) {
      if (const char* reason = skip_reason(dut, one.size)) {
        ++left_out[reason];
        continue;
      }
      add_test(dut.label(), std::string(ops::rule(op.code).name) + "." + one.name,
               [&machine, &dut, &op, &one] { check_case(machine, dut, op, one); });
    }
  for (const auto& [reason, count] : left_out)
    add_test(dut.label(), "left_out." + std::to_string(count) + "_cases", [text = reason] { GTEST_SKIP() << text; });
}

}  // namespace mokume::conformance
