#include "device/probe.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/core_plan.hpp"
#include "device/fake_backend.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"

namespace mokume::device {
namespace {

namespace fs = std::filesystem;

// Simulates the time of a device: a call takes 10 us, and `gflops_` and `gbytes_` set the rates.
class ProbeTest : public testing::Test {
 protected:
  ProbeTest() {
    backend_.compute = false;
    backend_.on_submit = [this](const mk_op& op) {
      now_ += 1e-5;
      if (op.code == MK_OP_GEMM) now_ += ops::cost_gemm(op).flops / (gflops_ * 1e9);
      if (op.code == MK_OP_AFFINE_COLUMNS) now_ += ops::cost_affine_columns(op).bytes / (gbytes_ * 1e9);
      if (op.code == MK_OP_GEMM) largest_ = std::max(largest_, op.outputs[0].rows);
    };
  }
  Speed probed(uint64_t budget = uint64_t{1} << 40) {
    const auto device = Device::open(backend_.listed(), {}, budget, nullptr);
    return probe(*device, [this] { return now_; });
  }

  FakeBackend backend_;
  double now_ = 0, gflops_ = 100, gbytes_ = 20;
  int64_t largest_ = 0;
};

TEST_F(ProbeTest, FindsTheSpeedsOfSlowAndFastDevices) {
  for (const double factor : {0.001, 0.1, 1.0, 10.0}) {
    gflops_ = 100 * factor;
    gbytes_ = 20 * factor;
    const Speed speed = probed();
    EXPECT_NEAR(speed.gflops, gflops_, 0.05 * gflops_);
    EXPECT_NEAR(speed.gbytes, gbytes_, 0.05 * gbytes_);
    EXPECT_NEAR(speed.overall(), factor * std::sqrt(2000), 0.05 * factor * std::sqrt(2000));
  }
}

TEST_F(ProbeTest, TakesAboutASecondAtMost) {
  for (const double factor : {0.001, 0.01, 0.1, 1.0, 100.0, 1000.0}) {
    gflops_ = 100 * factor;
    gbytes_ = 20 * factor;
    const double begin = now_;
    probed();
    EXPECT_LT(now_ - begin, 2.0) << factor;
  }
}

TEST_F(ProbeTest, AFirstCallThatBuildsItsKernelDoesNotCount) {
  const auto usual = backend_.on_submit;
  int64_t last = 0;
  backend_.on_submit = [&, this](const mk_op& op) {
    if (op.code == MK_OP_GEMM && op.outputs[0].rows != last) now_ += 3;
    if (op.code == MK_OP_GEMM) last = op.outputs[0].rows;
    usual(op);
  };
  EXPECT_NEAR(probed().gflops, gflops_, 0.05 * gflops_);
}

TEST_F(ProbeTest, StaysWithinTheBudgetAndLeavesNothingBehind) {
  gflops_ = 1e6;
  const Speed speed = probed(10 << 20);
  EXPECT_GT(speed.gflops, 0);
  EXPECT_GT(speed.gbytes, 0);
  EXPECT_LT(largest_, 1024);
  EXPECT_EQ(backend_.buffers, 0);
  EXPECT_EQ(probed(16), Speed()) << "a device that holds nothing has no known speed";
}

TEST_F(ProbeTest, AFailingDeviceFailsTheProbe) {
  backend_.on_submit = [](const mk_op& op) {
    if (op.code == MK_OP_GEMM) throw Error(MK_DEVICE_ERROR, "broken");
  };
  EXPECT_THROW(probed(), Error);
  EXPECT_EQ(backend_.buffers, 0);
}

class RememberedSpeed : public testing::Test {
 protected:
  RememberedSpeed() {
    std::string name = testing::TempDir() + "mokume-speed-XXXXXX";
    directory_ = mkdtemp(name.data());
    gpu_.info.kind = MK_DEVICE_GPU;
  }
  ~RememberedSpeed() override { fs::remove_all(directory_); }

  std::string directory_, warning_;
  FakeBackend backend_;
  Listed cpu_ = backend_.listed(), gpu_ = backend_.listed();
};

TEST_F(RememberedSpeed, BelongsToTheClassAndTheCores) {
  EXPECT_FALSE(remembered_speed(directory_, cpu_, 4, warning_));
  remember_speed(directory_, cpu_, 4, {100, 20});
  EXPECT_EQ(remembered_speed(directory_, cpu_, 4, warning_), (Speed{100, 20}));
  EXPECT_FALSE(remembered_speed(directory_, cpu_, 2, warning_));
  Listed other = cpu_;
  other.info.name[0] = 'X';
  EXPECT_FALSE(remembered_speed(directory_, other, 4, warning_));
}

TEST_F(RememberedSpeed, DoesNotDependOnCoresForAGpu) {
  remember_speed(directory_, gpu_, 0, {10000, 500});
  EXPECT_EQ(remembered_speed(directory_, gpu_, 8, warning_), (Speed{10000, 500}));
}

TEST_F(RememberedSpeed, ADamagedFileIsSetAside) {
  for (const std::string& text : {std::string("{\"gflops\": 1"), std::string(), std::string(9000, '[')}) {
    remember_speed(directory_, cpu_, 4, {100, 20});
    EXPECT_TRUE(remembered_speed(directory_, cpu_, 4, warning_));
    EXPECT_EQ(warning_, "");
    fs::path file;
    for (const auto& entry : fs::directory_iterator(directory_))
      if (entry.path().extension() == ".json") file = entry.path();
    std::ofstream(file) << text;
    EXPECT_FALSE(remembered_speed(directory_, cpu_, 4, warning_));
    EXPECT_EQ(warning_.find(file.string() + " is damaged ("), 0U) << warning_;
    EXPECT_TRUE(fs::exists(file.string() + ".damaged"));
    warning_.clear();
  }
}

TEST_F(RememberedSpeed, DoesNotExistWithoutACache) {
  remember_speed("", cpu_, 4, {100, 20});
  EXPECT_FALSE(remembered_speed("", cpu_, 4, warning_));
}

TEST_F(RememberedSpeed, OneProcessOfAHostMeasuresAtATime) {
  {
    const ProbeTurn first(directory_, "host", 0);
    EXPECT_TRUE(first.taken());
    EXPECT_FALSE(ProbeTurn(directory_, "host", 0).taken());
    EXPECT_TRUE(ProbeTurn(directory_, "another", 0).taken());
  }
  EXPECT_TRUE(ProbeTurn(directory_, "host", 0).taken());
  EXPECT_TRUE(ProbeTurn("", "host", 0).taken());
}

Listed device_of(int32_t kind, uint64_t flags = 0) {
  Listed listed;
  listed.info.kind = kind;
  listed.info.flags = flags;
  return listed;
}

using Plan = std::vector<std::vector<uint32_t>>;

TEST(CorePlan, ACpuGetsTheCoresThatFeedersLeave) {
  const Listed cpu = device_of(MK_DEVICE_CPU), gpu = device_of(MK_DEVICE_GPU);
  EXPECT_EQ(core_plan({cpu}, {0, 1, 2, 3}), (Plan{{0, 1, 2, 3}}));
  EXPECT_EQ(core_plan({cpu, gpu}, {0, 1, 2, 3}), (Plan{{1, 2, 3}, {}}));
  EXPECT_EQ(core_plan({gpu, gpu, cpu}, {0, 1, 2, 3}), (Plan{{}, {}, {2, 3}}));
  EXPECT_EQ(core_plan({gpu, gpu, cpu}, {0, 1}), (Plan{{}, {}, {1}})) << "at least one";
  EXPECT_EQ(core_plan({gpu}, {0, 1}), (Plan{{}}));
  EXPECT_EQ(core_plan({cpu}, {}), (Plan{{}}));
}

TEST(CorePlan, CpusThatAreNamedTogetherDivideTheCores) {
  const Listed cpu = device_of(MK_DEVICE_CPU), gpu = device_of(MK_DEVICE_GPU);
  EXPECT_EQ(core_plan({cpu, cpu}, {0, 1}), (Plan{{0}, {1}}));
  EXPECT_EQ(core_plan({cpu, gpu, cpu}, {0, 1, 2, 3}), (Plan{{1}, {}, {2, 3}}));
  EXPECT_EQ(core_plan({cpu, cpu, cpu}, {4, 5}), (Plan{{4}, {5}, {4}})) << "in turn where they are too few";
}

TEST(CorePlan, AnEmulatedGpuTakesNoCoreFromCpus) {
  Listed host = device_of(MK_DEVICE_CPU), pocl = host, emulated = device_of(MK_DEVICE_GPU, MK_DEVICE_SOFTWARE);
  host.backend = "host";
  pocl.backend = emulated.backend = "opencl";
  EXPECT_EQ(core_plan({emulated}, {0, 1}), (Plan{{0, 1}}));
  EXPECT_EQ(core_plan({pocl, emulated, host}, {0, 1}), (Plan{{0}, {0}, {1}}));
  EXPECT_EQ(core_plan({host, emulated}, {0, 1}), (Plan{{0, 1}, {1}}));
}

TEST(Spare, IsAnEmulatedGpuNextToACpu) {
  const Listed cpu = device_of(MK_DEVICE_CPU), gpu = device_of(MK_DEVICE_GPU);
  const Listed emulated = device_of(MK_DEVICE_GPU, MK_DEVICE_SOFTWARE);
  EXPECT_EQ(spare({cpu, emulated, gpu}), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(spare({emulated, gpu}), (std::vector<bool>{false, false}));
  EXPECT_EQ(spare({}), std::vector<bool>{});
}

}  // namespace
}  // namespace mokume::device
