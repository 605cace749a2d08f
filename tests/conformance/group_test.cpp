// Tests ops of several members in one group.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "group.hpp"
#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

// Members of a group may differ in size and op.
void a_group_may_be_mixed(DeviceUnderTest& dut) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v2"));
  if (group == nullptr) return;
  Buffer x(dut, Words(8, as_word(2))), y(dut, Words(8, as_word(0)));
  const std::vector<mk_op> other_code{
      ops::fill(sdk::vector(x.handle(), 3), 5.0F),
      ops::bias_act(sdk::vector(x.handle(), 4, 4), {}, ops::Activation::none, sdk::vector(y.handle(), 4, 0))};
  const std::vector<mk_op> other_size{ops::fill(sdk::vector(x.handle(), 1, 3), 7.0F),
                                      ops::fill(sdk::vector(y.handle(), 4, 4), 8.0F)};
  for (const std::vector<mk_op>* members : {&other_code, &other_size}) {
    const std::array<const mk_op*, 2> each{&members->front(), &members->back()};
    sdk::call(group->submit, dut.queue(), each.data(), 2U, 1U, static_cast<mk_event**>(nullptr));
  }
  finish(dut);
  const auto words = [](std::vector<float> values) {
    Words all;
    for (const float v : values) all.push_back(as_word(v));
    return all;
  };
  EXPECT_EQ(x.read(), words({5, 5, 5, 7, 2, 2, 2, 2}));
  EXPECT_EQ(y.read(), words({2, 2, 2, 2, 8, 8, 8, 8}));
}

// Each group holds all tiny cases of all ops. If the choice `sequence` is "always", one core runs a member's ops.
void a_group_may_be_long(Machine& machine, DeviceUnderTest& dut) {
  const size_t said = machine.host().lines().size();
  std::vector<Problem> problems;
  for (const OpCases& op : all_cases())
    for (const Case& one : op.cases) {
      if (one.size != Size::tiny) continue;
      Problem problem = one.make();
      if (all_supported(dut, {problem.op})) problems.push_back(std::move(problem));
    }
  for (const size_t members : {3, 1}) expect_same_in_group(dut, problems, members);
  if (const char* choices = std::getenv("MOKUME_TEST_CHOICES");
      choices != nullptr && std::string(choices).find("sequence=always") != std::string::npos) {
    const auto lines = machine.host().lines();
    EXPECT_TRUE(std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(said), lines.end(), [](const test::LogLine& l) {
      return l.text.find("kernels combined into one") != std::string::npos;
    })) << "no sequence was built";
  }
}

// Each op of a member reads the output of the previous op.
void a_group_is_in_order(DeviceUnderTest& dut) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v2"));
  if (group == nullptr) return;
  constexpr int64_t kSize = 100, kRounds = 9;
  constexpr uint32_t kMembers = 5;
  Buffer memory(dut, Words(2 * kSize * kMembers, as_word(1)));
  std::vector<std::vector<mk_op>> ops(kMembers);
  std::vector<const mk_op*> each;
  for (uint32_t m = 0; m < kMembers; ++m) {
    // Stores a + b alternately in a and in b, which yields the Fibonacci numbers times the member's first value.
    const mk_tensor a = sdk::vector(memory.handle(), kSize, 2 * m * kSize),
                    b = sdk::vector(memory.handle(), kSize, (2 * m + 1) * kSize);
    ops[m].push_back(ops::fill(a, static_cast<float>(m)));
    ops[m].push_back(ops::fill(b, static_cast<float>(m)));
    for (int64_t k = 0; k < kRounds; ++k)
      ops[m].push_back(
          ops::bias_act(k % 2 == 0 ? a : b, k % 2 == 0 ? b : a, ops::Activation::none, k % 2 == 0 ? a : b));
    each.push_back(ops[m].data());
  }
  if (!all_supported(dut, ops.front())) GTEST_SKIP() << kUnsupportedOp;
  sdk::call(group->submit, dut.queue(), each.data(), kMembers, static_cast<uint32_t>(ops.front().size()),
            static_cast<mk_event**>(nullptr));
  finish(dut);
  const Words got = memory.read();
  for (uint32_t m = 0; m < kMembers; ++m)
    for (int64_t i = 0; i < kSize; ++i) {
      EXPECT_EQ(as_float(got[static_cast<size_t>(2 * m * kSize + i)]), 89.0F * static_cast<float>(m)) << m << " " << i;
      EXPECT_EQ(as_float(got[static_cast<size_t>((2 * m + 1) * kSize + i)]), 55.0F * static_cast<float>(m));
    }
}

// A convolution follows its weights in a group of one member, too, and on backends that keep transformed weights.
void a_convolution_of_a_group_follows_its_weights(DeviceUnderTest& dut) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v2"));
  if (group == nullptr) return;
  constexpr int64_t kChannels = 16, kSide = 6;
  const ops::Window window{kSide, kSide, kChannels, 3, 3, 1, 1, 1, 1};
  Buffer x(dut, Words(kSide * kSide * kChannels, as_word(1))), y(dut, Words(kSide * kSide * kChannels, 0)),
      weight(dut, Words(9 * kChannels * kChannels, as_word(1)));
  const mk_tensor images = sdk::matrix(x.handle(), 1, window.image()),
                  w = sdk::matrix(weight.handle(), 9 * kChannels, kChannels);
  const mk_op convolution =
      ops::conv2d(images, w, {}, window, ops::Activation::none, sdk::matrix(y.handle(), 1, window.image()));
  const std::vector<mk_op> ops{convolution, ops::fill(w, 2), convolution};
  if (!all_supported(dut, ops)) GTEST_SKIP() << kUnsupportedOp;
  const mk_op* const member = ops.data();
  sdk::call(group->submit, dut.queue(), &member, 1U, static_cast<uint32_t>(ops.size()),
            static_cast<mk_event**>(nullptr));
  finish(dut);
  const size_t middle = static_cast<size_t>((kSide / 2 * kSide + kSide / 2) * kChannels);
  EXPECT_NEAR(as_float(y.read()[middle]), 2 * 9 * kChannels, 0.01);
}

// A backend may compute both ops at once with the same bits. The norm does not normalise the second convolution's
// output.
void a_convolution_and_its_norm(DeviceUnderTest& dut) {
  const auto* group = static_cast<const mk_group*>(dut.table().extension(dut.table().self, "group_v2"));
  if (group == nullptr) return;
  constexpr int64_t kImages = 2, kSide = 7, kIn = 3, kOut = 10;
  const ops::Window window{kSide, kSide, kIn, 3, 3, 1, 1, 1, 1};
  const auto some = [](size_t n, float from) {
    Words words;
    for (size_t i = 0; i < n; ++i) words.push_back(as_word(from + static_cast<float>(i * 7 % 11) / 16));
    return words;
  };
  const size_t pixels = kImages * kSide * kSide;
  Buffer x(dut, some(pixels * kIn, -0.3F)), weight(dut, some(9 * kIn * kOut, -0.25F)),
      vectors(dut, some(5 * kOut, 0.5F));
  const mk_tensor images = sdk::matrix(x.handle(), kImages, window.image());
  const auto vector = [&](int64_t i) { return sdk::vector(vectors.handle(), kOut, i * kOut); };
  const auto values = [&](bool one_by_one) {
    Buffer y(dut, Words(2 * pixels * kOut, as_word(0)));
    const auto out = [&](int64_t half) {
      return sdk::matrix(y.handle(), kImages, kSide * kSide * kOut, kSide * kSide * kOut,
                         half * static_cast<int64_t>(pixels) * kOut);
    };
    std::vector<mk_op> ops;
    for (const int64_t half : {0, 1})
      ops.push_back(ops::conv2d(images, sdk::matrix(weight.handle(), 9 * kIn, kOut), vector(0), window,
                                ops::Activation::none, out(half)));
    const auto lines = [&](int64_t half) {
      return sdk::matrix(y.handle(), static_cast<int64_t>(pixels), kOut, kOut,
                         half * static_cast<int64_t>(pixels) * kOut);
    };
    std::swap(ops[0], ops[1]);
    for (const int64_t half : {0, 1})
      ops.push_back(ops::batch_norm_given(lines(half), vector(1), vector(2), vector(3), vector(4), 1e-5,
                                          ops::Activation::relu, lines(half)));
    const mk_op* member = ops.data();
    if (one_by_one)
      for (const mk_op& op : ops) sdk::call(dut.table().submit, dut.queue(), &op, static_cast<mk_event**>(nullptr));
    else
      sdk::call(group->submit, dut.queue(), &member, 1U, static_cast<uint32_t>(ops.size()),
                static_cast<mk_event**>(nullptr));
    finish(dut);
    return y.read();
  };
  const Words want = values(true);
  EXPECT_EQ(values(false), want);
  EXPECT_NE(want.front(), want[1]);
}

}  // namespace

void add_group_tests(Machine& machine, DeviceUnderTest& dut) {
  if (skip_reason(dut, Size::tiny) != nullptr) return;  // the op tests report this once
  add_test(dut.label(), "group.may_be_mixed", [&dut] { a_group_may_be_mixed(dut); });
  add_test(dut.label(), "group.may_be_long", [&machine, &dut] { a_group_may_be_long(machine, dut); });
  add_test(dut.label(), "group.is_in_order", [&dut] { a_group_is_in_order(dut); });
  add_test(dut.label(), "group.a_convolution_and_its_norm", [&dut] { a_convolution_and_its_norm(dut); });
  add_test(dut.label(), "group.a_convolution_follows_its_weights",
           [&dut] { a_convolution_of_a_group_follows_its_weights(dut); });
}

}  // namespace mokume::conformance
