#include "scheduler/cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sdk/cores.hpp"
#include "sdk/error.hpp"

namespace mokume::scheduler {
namespace {

namespace fs = std::filesystem;
using Cores = std::vector<uint32_t>;

Cores on_new_thread() {
  Cores cores;
  std::thread([&] { cores = allowed_core_list(); }).join();
  return cores;
}

TEST(Cores, AThreadInheritsThemFromItsCreator) {
  const Cores all = allowed_core_list();
  ASSERT_FALSE(all.empty());
  const Cores last = {all.back()};
  {
    const OnCores here(last);
    EXPECT_EQ(allowed_core_list(), last);
    EXPECT_EQ(on_new_thread(), last);
  }
  EXPECT_EQ(allowed_core_list(), all);
  EXPECT_EQ(on_new_thread(), all);
}

TEST(Cores, AnEmptyListChangesNothing) {
  const Cores all = allowed_core_list();
  run_on({});
  EXPECT_EQ(allowed_core_list(), all);
}

TEST(Cores, AMissingCoreIsNamed) {
  try {
    run_on({100000});
    FAIL() << "ran on core 100000";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("100000"), std::string::npos) << error.what();
  }
}

TEST(Cores, HyperThreadsAndProcessorsAreAdjacent) {
  const Cores all = allowed_core_list("/nowhere");
  if (all.size() < 2) GTEST_SKIP() << "one core has one order";
  std::string root = testing::TempDir() + "mokume-cores-XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  // All cores except the first are on one processor.
  for (const uint32_t core : all) {
    const fs::path topology = root + "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology";
    fs::create_directories(topology);
    std::ofstream(topology / "physical_package_id") << (core == all.front() ? 1 : 0) << "\n";
    std::ofstream(topology / "core_id") << 0 << "\n";
  }
  Cores expected = all;
  std::rotate(expected.begin(), expected.begin() + 1, expected.end());
  EXPECT_EQ(allowed_core_list(root), expected);
  fs::remove_all(root);
}

// A kernel that knows 4,096 cores refuses smaller masks.
int kernel_with_4096_cores(pid_t, size_t bytes, cpu_set_t* set) noexcept {
  if (bytes < 4096 / 8) return -1;
  CPU_ZERO_S(bytes, set);
  for (const size_t core : {0, 1, 1024, 4095}) CPU_SET_S(core, bytes, set);
  return 0;
}

TEST(Cores, MayBeMoreThanAMaskOfTheUsualSizeHolds) {
  EXPECT_EQ(sdk::allowed_cores(&kernel_with_4096_cores), (Cores{0, 1, 1024, 4095}));
}

TEST(Cores, AreUnknownWhereTheSystemReportsNone) {
  EXPECT_TRUE(sdk::allowed_cores([](pid_t, size_t, cpu_set_t*) { return -1; }).empty());
}

TEST(Cores, AreWrittenAsRanges) {
  EXPECT_EQ(core_text({}), "");
  EXPECT_EQ(core_text({3}), "3");
  EXPECT_EQ(core_text({8, 1, 0, 2}), "0-2,8");
}

}  // namespace
}  // namespace mokume::scheduler
