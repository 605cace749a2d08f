#include "device/profile.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "device/fake_backend.hpp"
#include "sdk/device.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

// Returns seconds by phase and row, with the number of calls after a slash.
std::string text_of(const std::vector<ProfileRow>& rows) {
  std::string text;
  for (const ProfileRow& r : rows)
    text +=
        r.phase + " " + r.what + " " + std::to_string(std::lround(r.seconds)) + "/" + std::to_string(r.calls) + "\n";
  return text;
}

double sum(const std::vector<ProfileRow>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0, [](double s, const ProfileRow& r) { return s + r.seconds; });
}

TEST(Profile, TimeGoesToTheInnermostPhaseAndAddsUp) {
  double now = 100;
  Profile profile([&] { return now; });
  now += 50;  // not counted, because no scope is open
  profile.begin(MK_SCOPE_PHASE, "other");
  now += 1;
  profile.begin(MK_SCOPE_PHASE, "forward");
  now += 10;
  profile.add_transfer("read", 80, 7);  // leaves 3 seconds outside of ops
  profile.begin(MK_SCOPE_PHASE, "load");
  now += 100;
  profile.end();
  now += 20;
  profile.end();
  profile.begin(MK_SCOPE_PHASE, "forward");
  now += 5;
  profile.end();
  now += 1;
  profile.end();
  now += 50;
  profile.end();  // ignored, because no scope is left
  EXPECT_EQ(
      text_of(profile.rows()),
      "load (outside of ops) 100/1\nforward (outside of ops) 28/2\nforward read 7/1\nother (outside of ops) 2/1\n");
  EXPECT_DOUBLE_EQ(sum(profile.rows()), 137);
  const auto phases = phases_of(profile.rows());
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[1].name, "forward");
  EXPECT_EQ(phases[1].calls, 2U);
  EXPECT_DOUBLE_EQ(phases[1].seconds, 35);
  EXPECT_DOUBLE_EQ(phases[1].bytes, 80);
}

TEST(Profile, TheRowOfAKernelExcludesTheTimeOfNestedOps) {
  double now = 0;
  Profile profile([&] { return now; });
  profile.begin(MK_SCOPE_PHASE, "solve");
  profile.begin(MK_SCOPE_KERNEL, "smo");
  now += 10;
  profile.add_transfer("write", 4, 2);
  profile.end();
  now += 1;
  profile.end();
  EXPECT_EQ(text_of(profile.rows()), "solve smo 8/1\nsolve write 2/1\nsolve (outside of ops) 1/1\n");
}

TEST(Profile, OpsCarryTheirShapesAndCosts) {
  Profile profile;
  const mk_op op =
      ops::gemm(sdk::matrix(nullptr, 2, 3), false, sdk::matrix(nullptr, 4, 3), true, sdk::matrix(nullptr, 2, 4));
  profile.add_op(op, 2);
  ASSERT_EQ(profile.rows().size(), 1U);
  const ProfileRow row = profile.rows().front();
  EXPECT_EQ(row.what, "gemm 2x4x3 b'");
  EXPECT_EQ(row.phase, kOtherPhase);
  EXPECT_EQ(row.flops, ops::rule(MK_OP_GEMM).cost(op).flops);
}

TEST(Profile, ADeviceOffersScopesOnlyWhileItIsProfiled) {
  FakeBackend backend;
  const auto device = Device::open(backend.listed(), {}, 1 << 20, nullptr);
  const sdk::Device seen(device->services());
  EXPECT_EQ(device->services()->scope_begin, nullptr);
  { const auto phase = seen.phase("load"); }  // no effect
  const int finishes = backend.finishes;
  const sdk::Buffer b = seen.upload(std::vector<float>{1, 2});
  EXPECT_EQ(backend.finishes, finishes + 1);

  device->profile();
  const auto start = std::chrono::steady_clock::now();
  {
    const auto whole = seen.phase("other");
    {
      const auto phase = seen.phase("load");
      seen.write(b, std::vector<float>{3, 4}.data(), 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto phase = seen.phase("forward");
    seen.submit(ops::fill(sdk::vector(b.get(), 2), 0.0F));
    const auto kernel = seen.kernel("own");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::map<std::pair<std::string, std::string>, ProfileRow> rows;
  for (const ProfileRow& row : device->profiled()->rows()) rows[{row.phase, row.what}] = row;
  EXPECT_GE((rows[{"load", kOutsideOps}].seconds), 0.02);
  EXPECT_EQ((rows[{"load", "write"}].bytes), 8);
  EXPECT_EQ((rows[{"forward", "fill 1x2"}].calls), 1U);
  EXPECT_GE((rows[{"forward", "own"}].seconds), 0.01);
  EXPECT_NEAR(sum(device->profiled()->rows()), wall, 0.005);
}

TEST(Profile, AFallbacksCopiesAreNotCountedTwice) {
  FakeBackend backend, host("host");
  backend.unsupported = {MK_OP_FILL};
  const auto device = Device::open(backend.listed(), {}, 1 << 20, Device::open(host.listed(), {}, 1 << 20, nullptr));
  device->profile();
  const sdk::Device seen(device->services());
  const sdk::Buffer b = seen.upload(std::vector<float>(1000));
  const auto start = std::chrono::steady_clock::now();
  {
    const auto phase = seen.phase("forward");
    for (int k = 0; k < 200; ++k) seen.submit(ops::fill(sdk::vector(b.get(), 1000), 1.0F));
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double total = 0;
  uint64_t reads = 0;
  for (const ProfileRow& row : device->profiled()->rows()) {
    if (row.phase == "forward") total += row.seconds;
    if (row.phase == "forward" && row.what == "read") reads = row.calls;
  }
  EXPECT_EQ(reads, 200U);
  EXPECT_LE(total, wall);
}

}  // namespace
}  // namespace mokume::device
