#include "base/memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(Meminfo, ReadsTheAvailableMemory) {
  EXPECT_EQ(meminfo_available("MemTotal:  100 kB\nMemAvailable:   2048 kB\nBuffers: 1 kB\n"), 2 * kMiB);
  EXPECT_EQ(meminfo_available("MemAvailable: 7 kB"), 7 * 1024U);
}

TEST(Meminfo, IgnoresInvalidText) {
  for (const char* text :
       {"", "MemTotal: 100 kB\n", "MemAvailable: 12\n", "MemAvailable: -1 kB\n", "MemAvailable: kB\n",
        "MemAvailable: 1 MB\n", "MemAvailable: 18446744073709551615 kB\n", "xMemAvailable: 1 kB\n"})
    EXPECT_FALSE(meminfo_available(text)) << text;
}

TEST(Cgroup, ReadsLimits) {
  EXPECT_EQ(cgroup_limit("1048576\n"), kMiB);
  EXPECT_EQ(cgroup_limit("0\n"), 0U);
  for (const char* text : {"max\n", "", "9223372036854771712\n", "-1\n", "12 x", "99999999999999999999999"})
    EXPECT_FALSE(cgroup_limit(text)) << text;
}

TEST(Cgroup, ReadsCounters) {
  const char* stat = "anon 5\ninactive_file 4096\ntotal_inactive_file 8192\nbad x\n";
  EXPECT_EQ(cgroup_counter(stat, "inactive_file"), 4096U);
  EXPECT_EQ(cgroup_counter(stat, "total_inactive_file"), 8192U);
  EXPECT_EQ(cgroup_counter(stat, "file"), 0U);
  EXPECT_EQ(cgroup_counter(stat, "bad"), 0U);
}

TEST(Cgroup, ReadsPaths) {
  const CgroupPaths unified = cgroup_paths("0::/user.slice/session-1.scope\n");
  EXPECT_EQ(unified.v2, "/user.slice/session-1.scope");
  EXPECT_EQ(unified.v1, "");
  const CgroupPaths old = cgroup_paths("9:name=systemd:/\n4:hugetlb,memory:/job:7\n1:memoryless:/x\n0::/\n");
  EXPECT_EQ(old.v2, "");
  EXPECT_EQ(old.v1, "/job:7");
  const CgroupPaths bad = cgroup_paths("0::/../../etc\nnonsense\n4:memory");
  EXPECT_EQ(bad.v2 + bad.v1, "");
}

class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = testing::TempDir() + "mokume-machine-XXXXXX";
    root_ = mkdtemp(name.data());
    put("/proc/meminfo", "MemAvailable: 8192 kB\n");
  }
  ~Machine() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(Machine, WithoutGroupsUsesTheFigureOfTheKernel) { EXPECT_EQ(host_available_bytes(root_), 8 * kMiB); }

TEST_F(Machine, AGroupOfVersion2LeavesTheMemoryThatItsProcessesDoNotHold) {
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "4194304\n");
  put("/sys/fs/cgroup/a/b/memory.current", "3145728\n");
  EXPECT_EQ(host_available_bytes(root_), 1 * kMiB);
  put("/sys/fs/cgroup/a/b/memory.stat", "inactive_file 2097152\n");  // reclaimable cache
  EXPECT_EQ(host_available_bytes(root_), 3 * kMiB);
  put("/sys/fs/cgroup/a/memory.high", "2097152\n");  // a stricter outer group
  EXPECT_EQ(host_available_bytes(root_), 2 * kMiB);
  put("/sys/fs/cgroup/a/memory.current", "9000000\n");  // already exceeded
  EXPECT_EQ(host_available_bytes(root_), 0U);
}

TEST_F(Machine, AGroupOfVersion1CountsEvenIfItsPathIsTheHosts) {
  put("/proc/self/cgroup", "4:memory:/docker/123\n0::/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2097152\n");
  EXPECT_EQ(host_available_bytes(root_), 2 * kMiB);
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(host_available_bytes(root_), 8 * kMiB);
}

TEST(Machines, WithoutFilesHaveNoKnownMemory) { EXPECT_EQ(host_available_bytes("/nowhere"), 0U); }

TEST(Machines, IncludeThisOneWithMemory) { EXPECT_GT(host_available_bytes(), kMiB); }

}  // namespace
}  // namespace mokume::base
