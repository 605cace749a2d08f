#include "device/trace.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "device/fake_backend.hpp"
#include "sdk/device.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

using sdk::matrix;
using sdk::vector;

constexpr uint64_t kTracedBudget = 1 << 20;

std::string digest(Digest::Kind kind, std::vector<uint32_t> words) {
  Digest made(kind);
  made.add(words);
  return made.hex();
}

std::string digest_of_floats(const std::vector<float>& values) {
  std::vector<uint32_t> words;
  for (const float value : values) words.push_back(std::bit_cast<uint32_t>(value));
  return digest(Digest::Kind::floats, words);
}

TEST(Digest, TellsNoZerosAndNoNansApart) {
  constexpr auto kFloats = Digest::Kind::floats, kWords = Digest::Kind::words;
  for (const auto kind : {kFloats, kWords}) {
    EXPECT_EQ(digest(kind, {0x80000000}), digest(kind, {0}));
    EXPECT_EQ(digest(kind, {0xFFC00001}), digest(kind, {0x7FC00000}));
    EXPECT_NE(digest(kind, {0x7F800000}), digest(kind, {0x7FC00000})) << "infinity is a number";
    EXPECT_NE(digest(kind, {0x3F800000}), digest(kind, {0x3F800001}));
  }
  EXPECT_EQ(digest(kFloats, {0x007FFFFF}), digest(kFloats, {0})) << "subnormals count as zeros";
  EXPECT_NE(digest(kFloats, {0x00800000}), digest(kFloats, {0}));
  EXPECT_NE(digest(kWords, {17}), digest(kWords, {0})) << "integers do not";
  EXPECT_EQ(digest(kWords, {17}).size(), 32U);
}

class Tracing : public testing::Test {
 protected:
  std::unique_ptr<Device> open(size_t most = 100, std::shared_ptr<Device> fallback = nullptr) {
    trace_.emplace(most);
    auto device = Device::open(backend_.listed(), {}, kTracedBudget, std::move(fallback));
    device->trace(*trace_);
    return device;
  }
  const std::vector<std::string>& lines() const { return trace_->lines(); }

  FakeBackend backend_;
  std::optional<Trace> trace_;
};

TEST_F(Tracing, HasEveryStepWithItsPhaseAndValues) {
  const auto device = open();
  const sdk::Device services(device->services());
  const sdk::Buffer buffer = services.buffer<float>(4);
  const std::vector<float> values{1, 2, -0.0F, 4};
  services.write(buffer, values.data(), 4);
  {
    const auto phase = services.phase("forward");
    services.submit(ops::fill(vector(buffer.get(), 2), 3.0F));
  }
  std::vector<float> back(4);
  services.read(buffer, back.data(), 4);
  ASSERT_EQ(lines().size(), 3U);
  EXPECT_EQ(lines()[0], "1 write of 16 bytes = " + digest_of_floats({1, 2, 0, 4}));
  EXPECT_EQ(lines()[1], "2 forward: fill -> 1x2, value 3 = " + digest_of_floats({3, 3}));
  EXPECT_EQ(lines()[2], "3 read of 16 bytes = " + digest_of_floats({3, 3, 0, 4}));
}

TEST_F(Tracing, LeavesOutTheGapsBetweenRows) {
  std::vector<std::string> seen;
  for (const float gap : {5.0F, 6.0F}) {
    const auto device = open();
    const sdk::Device services(device->services());
    const sdk::Buffer buffer = services.upload(std::vector<float>(6, gap));
    mk_tensor view = matrix(buffer.get(), 2, 2);
    view.row_stride = 3;
    services.submit(ops::fill(view, 1.0F));
    EXPECT_EQ(contents(buffer.get()), (std::vector<float>{1, 1, gap, 1, 1, gap}));
    seen.push_back(lines().back());
  }
  EXPECT_EQ(seen[0], "2 fill -> 2x2, value 1 = " + digest_of_floats({1, 1, 1, 1}));
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(Tracing, RunsTheOpsOfAGroupOneByOne) {
  const auto device = open();
  const sdk::Device services(device->services());
  const sdk::Buffer a = services.buffer<float>(1), b = services.buffer<float>(1);
  const std::array<mk_op, 2> of_a{ops::fill(vector(a.get(), 1), 1.0F), ops::fill(vector(a.get(), 1), 2.0F)};
  const std::array<mk_op, 2> of_b{ops::fill(vector(b.get(), 1), 3.0F), ops::fill(vector(b.get(), 1), 4.0F)};
  const std::array<const mk_op*, 2> members{of_a.data(), of_b.data()};
  services.submit_group(members, 2);
  ASSERT_EQ(lines().size(), 4U);
  for (const auto& [line, value] : {std::pair(0U, 1.0F), {1U, 3.0F}, {2U, 2.0F}, {3U, 4.0F}})
    EXPECT_TRUE(lines()[line].ends_with(digest_of_floats({value}))) << lines()[line];
}

TEST_F(Tracing, NewBuffersHoldZeros) {
  const auto device = open();
  const sdk::Buffer buffer = sdk::Device(device->services()).buffer<float>(3);
  EXPECT_EQ(contents(buffer.get()), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(lines().empty());
}

TEST_F(Tracing, EndsWhenItIsFull) {
  const auto device = open(2);
  const sdk::Device services(device->services());
  const sdk::Buffer buffer = services.buffer<float>(1);
  for (int k = 0; k < 3; ++k) services.submit(ops::fill(vector(buffer.get(), 1), static_cast<float>(k)));
  EXPECT_TRUE(trace_->full());
  EXPECT_EQ(lines().size(), 2U);
  EXPECT_EQ(contents(buffer.get())[0], 2.0F) << "the device goes on";
}

TEST_F(Tracing, AnOpThatFallsBackIsOneStep) {
  FakeBackend host("host");
  backend_.unsupported = {MK_OP_FILL};
  const auto device = open(100, Device::open(host.listed(), {}, kTracedBudget, nullptr));
  const sdk::Device services(device->services());
  const sdk::Buffer buffer = services.buffer<float>(2);
  services.submit(ops::fill(vector(buffer.get(), 2), 7.0F));
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0], "1 fill -> 1x2, value 7 = " + digest_of_floats({7, 7}));
}

mk_device* launched_on_device = nullptr;
mk_queue* launched_on_queue = nullptr;

// Makes the only kernel of the fake backend, which writes 9 into its first buffer.
void give_kernels(FakeBackend& backend) {
  backend.has_kernel_source = true;
  backend.kernel_source.build = [](mk_device* device, const char*, const char*, const char*, mk_program**, mk_error*) {
    launched_on_device = device;
    return static_cast<int32_t>(MK_OK);
  };
  backend.kernel_source.release = [](mk_program*) {};
  backend.kernel_source.launch = [](mk_queue* queue, mk_program*, const char*, const mk_argument* arguments, uint32_t,
                                    const uint64_t*, const uint64_t*, mk_event**, mk_error*) {
    launched_on_queue = queue;
    contents(arguments[0].buffer)[0] = 9;
    return static_cast<int32_t>(MK_OK);
  };
}

TEST_F(Tracing, AKernelOfAModelShowsAllItsBuffers) {
  give_kernels(backend_);
  trace_.emplace(100);
  const auto device = Device::open(backend_.listed(), {}, kTracedBudget, nullptr);
  mk_device* real_device = nullptr;
  mk_queue* real_queue = nullptr;
  device->services()->kernel_source(device->services()->self, &real_device, &real_queue);
  device->trace(*trace_);
  const sdk::Device services(device->services());
  const auto program = sdk::Program::build(services, "p", "source", "");
  const sdk::Buffer a = services.buffer<float>(1), b = services.buffer<float>(2);
  program->launch("smo_vector", 1, 1, a, 5, b);
  EXPECT_EQ(launched_on_device, real_device);
  EXPECT_EQ(launched_on_queue, real_queue);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0], "1 kernel smo_vector = " + digest_of_floats({9}) + " " + digest_of_floats({0, 0}));
}

TEST_F(Tracing, NativeCodeShowsTheBuffersWhoseMemoryItGot) {
  backend_.has_host_pointer = true;
  const auto device = open();
  const sdk::Device services(device->services());
  const sdk::Buffer a = services.buffer<float>(1), b = services.buffer<float>(1);
  const auto run = [&](const sdk::Buffer& on, float value) {
    auto* const memory = services.host_pointer<float>(on);
    const auto kernel = services.kernel("smo_native");
    *memory = value;
  };
  run(a, 1);
  run(b, 2);
  {
    const auto kernel = services.kernel("again_native");  // with the memory of the kernel before it
  }
  ASSERT_EQ(lines().size(), 3U);
  EXPECT_EQ(lines()[0], "1 kernel smo_native = " + digest_of_floats({1}));
  EXPECT_EQ(lines()[1], "2 kernel smo_native = " + digest_of_floats({2}));
  EXPECT_EQ(lines()[2], "3 kernel again_native = " + digest_of_floats({2}));
}

}  // namespace
}  // namespace mokume::device
