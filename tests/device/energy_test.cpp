// Tests the energy of devices with made files in place of /sys/class/powercap, and made libraries in place of NVML.
#include "device/energy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/paths.hpp"
#include "support/scratch.hpp"

namespace mokume::device {
namespace {

namespace fs = std::filesystem;

mk_device_info cpu() {
  mk_device_info info{};
  info.kind = MK_DEVICE_CPU;
  return info;
}

mk_device_info gpu(const char* place) {
  mk_device_info info{};
  info.kind = MK_DEVICE_GPU;
  std::string(place).copy(info.physical_id, sizeof(info.physical_id) - 1);
  return info;
}

// Imitates a computer with two packages of four cores. Core 7 is switched off.
class Packages : public testing::Test {
 protected:
  Packages() {
    put("sys/devices/system/cpu/possible", "0-7\n");
    for (int core = 0; core < 7; ++core)
      put("sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id",
          std::to_string(core / 4) + "\n");
    zone(0, "package-0", 1'000'000);
    zone(1, "package-1-die-0", 2'000'000);
    zone(2, "psys", 9'000'000);
    zone(3, "package-1-die-1", 500'000);
  }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(scratch_ / name).parent_path());
    std::ofstream(scratch_ / name) << text;
  }
  void zone(int k, const std::string& name, uint64_t count) const {
    const std::string at = "sys/class/powercap/intel-rapl:" + std::to_string(k) + "/";
    put(at + "name", name + "\n");
    put(at + "max_energy_range_uj", "10000000\n");
    count_to(k, count);
  }
  void count_to(int k, uint64_t count) const {
    put("sys/class/powercap/intel-rapl:" + std::to_string(k) + "/energy_uj", std::to_string(count) + "\n");
  }
  std::unique_ptr<EnergyMeter> meter(const std::vector<uint32_t>& cores) const {
    return energy_meter(cpu(), cores, {scratch_.path(), "libno-such-driver.so"});
  }

  test::Scratch scratch_;
};

TEST_F(Packages, ADeviceOnAllCoresOfAPackageIsChargedForAllOfIt) {
  const auto all = meter({0, 1, 2, 3});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->joules(), 0);
  count_to(0, 4'500'000);
  count_to(1, 9'000'000);  // the other package
  EXPECT_DOUBLE_EQ(all->joules().value(), 3.5);
  EXPECT_DOUBLE_EQ(all->joules().value(), 3.5);
}

TEST_F(Packages, DevicesThatShareAPackageShareItsEnergyByTheirCores) {
  const auto one = meter({0}), three = meter({1, 2, 3});
  count_to(0, 5'000'000);
  EXPECT_DOUBLE_EQ(one->joules().value(), 1);
  EXPECT_DOUBLE_EQ(three->joules().value(), 3);
}

// Package 1 has two counters, one for each die, and three cores that are switched on.
TEST_F(Packages, ADeviceOnTwoPackagesIsChargedForBoth) {
  const auto both = meter({2, 3, 4});
  count_to(0, 3'000'000);
  count_to(1, 5'000'000);
  count_to(3, 3'500'000);
  EXPECT_DOUBLE_EQ(both->joules().value(), 2 * 0.5 + (3 + 3) / 3.0);
}

TEST_F(Packages, ACounterThatStartsAgainAtZeroLosesNothing) {
  const auto all = meter({0, 1, 2, 3});
  count_to(0, 9'000'000);
  EXPECT_DOUBLE_EQ(all->joules().value(), 8);
  count_to(0, 250'000);
  EXPECT_DOUBLE_EQ(all->joules().value(), 9.25);
  count_to(0, 200'000);
  EXPECT_DOUBLE_EQ(all->joules().value(), 19.2);
}

TEST_F(Packages, ACounterThatCannotBeReadGivesNoEnergy) {
  const auto before = meter({0});
  for (const char* odd : {"", "-1\n", "12 J\n", "99999999999999999999999\n"}) {
    put("sys/class/powercap/intel-rapl:0/energy_uj", odd);
    EXPECT_FALSE(meter({0})) << odd;
    EXPECT_FALSE(before->joules()) << odd;
  }
  fs::remove(scratch_ / "sys/class/powercap/intel-rapl:0/energy_uj");
  EXPECT_FALSE(meter({0}));
  EXPECT_TRUE(meter({4}));
  count_to(0, 5'000'000);
  EXPECT_DOUBLE_EQ(before->joules().value(), 1);
}

TEST_F(Packages, AMachineWithoutCountersHasNoEnergy) {
  fs::remove_all(scratch_ / "sys/class");
  EXPECT_FALSE(meter({0, 1}));
  EXPECT_FALSE(meter({}));
  EXPECT_FALSE(energy_meter(cpu(), {0}, {scratch_ / "nothing", ""}));
}

std::string library(const std::string& name) {
  return test::build_directory() + "/tests/device/library/" + name + ".so";
}

TEST(NvidiaEnergy, ComesFromTheDriverInJoules) {
  const auto card = energy_meter(gpu("pci:0000:3b:00.0"), {}, {"", library("nvml")});
  ASSERT_TRUE(card);
  EXPECT_DOUBLE_EQ(card->joules().value(), 2.5);
  EXPECT_DOUBLE_EQ(card->joules().value(), 5);
  setenv("MOKUME_TEST_NVML", "restarts", 1);
  EXPECT_DOUBLE_EQ(card->joules().value(), 5);
  EXPECT_DOUBLE_EQ(card->joules().value(), 7.5);
  unsetenv("MOKUME_TEST_NVML");
}

TEST(NvidiaEnergy, IsAbsentWithoutADriverThatCountsTheCard) {
  EXPECT_FALSE(energy_meter(gpu("pci:0000:af:00.0"), {}, {"", library("nvml")}));
  EXPECT_FALSE(energy_meter(gpu("pci:0000:3b:00.0"), {}, {"", library("older_nvml")}));
  EXPECT_FALSE(energy_meter(gpu("pci:0000:3b:00.0"), {}, {"", "libno-such-driver.so"}));
  EXPECT_FALSE(energy_meter(gpu(""), {}, {"", library("nvml")}));
}

}  // namespace
}  // namespace mokume::device
