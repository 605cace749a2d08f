#include "cluster/share.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace mokume::cluster {
namespace {

using Cores = std::vector<uint32_t>;
using Ids = std::vector<std::string>;

HostDevice cpu(const std::string& id = "host:0") { return {id, "cpu:0-7", true}; }
HostDevice gpu(int slot, const std::string& id = "") {
  return {id.empty() ? "opencl:" + std::to_string(slot) : id, "pci:" + std::to_string(slot), false};
}

HostView rank(const std::string& host, Cores cores, std::vector<HostDevice> devices = {cpu()}) {
  return {host + " boot", std::move(cores), std::move(devices)};
}

std::vector<Cores> cores_of(const std::vector<HostView>& ranks) {
  std::vector<Cores> cores;
  for (const HostShare& part : share(ranks).shares) cores.push_back(part.cores);
  return cores;
}

std::vector<Ids> devices_of(const std::vector<HostView>& ranks) {
  std::vector<Ids> ids;
  for (const HostShare& part : share(ranks).shares) ids.push_back(part.devices);
  return ids;
}

TEST(Share, ASingleRankKeepsEverything) {
  const HostView alone = rank("a", {4, 5, 2}, {cpu(), gpu(0), gpu(1)});
  const Shares shares = share({alone});
  ASSERT_EQ(shares.shares.size(), 1u);
  EXPECT_EQ(shares.shares[0], (HostShare{{4, 5, 2}, {"host:0", "opencl:0", "opencl:1"}, 1, 3}));
  EXPECT_TRUE(shares.notices.empty());
}

TEST(Share, RanksOfDifferentHostsKeepEverything) {
  const Shares shares = share({rank("a", {0, 1}, {cpu(), gpu(0)}), rank("b", {0, 1}, {cpu(), gpu(0)})});
  for (const HostShare& part : shares.shares) EXPECT_EQ(part, (HostShare{{0, 1}, {"host:0", "opencl:0"}, 1, 4}));
  EXPECT_TRUE(shares.notices.empty());
}

TEST(Share, AbsentRanksGetNothing) {
  const Shares shares = share({rank("a", {0, 1}), HostView(), rank("a", {0, 1}), HostView()});
  EXPECT_EQ(shares.shares[2].cores, Cores{1});
  EXPECT_EQ(shares.shares[3], (HostShare{{}, {}, 1, 2}));
  EXPECT_TRUE(shares.notices.empty());
}

TEST(Share, EqualCoresAreDividedEvenlyInOrder) {
  EXPECT_EQ(cores_of({rank("a", {0, 1}), rank("a", {0, 1})}), (std::vector<Cores>{{0}, {1}}));
  // Neighbouring hyper-threads stay together.
  EXPECT_EQ(cores_of({rank("a", {0, 4, 1, 5}), rank("a", {0, 4, 1, 5})}), (std::vector<Cores>{{0, 4}, {1, 5}}));
  EXPECT_EQ(cores_of({rank("a", {0, 1, 2, 3, 4}), rank("b", {7}), rank("a", {0, 1, 2, 3, 4})}),
            (std::vector<Cores>{{0, 1}, {7}, {2, 3, 4}}));
}

TEST(Share, BindingsOfTheLauncherAreKept) {
  const Shares shares = share({rank("a", {0, 1, 2}), rank("a", {3})});
  EXPECT_EQ(shares.shares[0].cores, (Cores{0, 1, 2}));
  EXPECT_EQ(shares.shares[1].cores, (Cores{3}));
  EXPECT_EQ(shares.shares[0].sharers, 2u);
  EXPECT_TRUE(shares.notices.empty());
}

TEST(Share, OverlappingCoresGoToRanksThatMayUseThem) {
  EXPECT_EQ(cores_of({rank("a", {0, 1, 2, 3}), rank("a", {2, 3, 4, 5})}), (std::vector<Cores>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(cores_of({rank("a", {0, 1}), rank("a", {0})}), (std::vector<Cores>{{1}, {0}}));
}

TEST(Share, NoCoreIsGivenTwiceWhileThereAreEnough) {
  for (size_t ranks = 1; ranks <= 8; ++ranks)
    for (uint32_t n = static_cast<uint32_t>(ranks); n <= 20; ++n) {
      Cores all;
      for (uint32_t core = 0; core < n; ++core) all.push_back(core);
      std::set<uint32_t> given;
      for (const HostShare& part : share(std::vector<HostView>(ranks, rank("a", all))).shares) {
        EXPECT_GE(part.cores.size(), n / ranks);
        for (const uint32_t core : part.cores) EXPECT_TRUE(given.insert(core).second);
      }
      EXPECT_EQ(given.size(), n);
    }
}

TEST(Share, MoreRanksThanCoresShareThemAndReportIt) {
  const Shares shares = share(std::vector<HostView>(4, rank("a", {0, 1})));
  std::map<uint32_t, int> users;
  for (const HostShare& part : shares.shares) {
    ASSERT_EQ(part.cores.size(), 1u);
    ++users[part.cores[0]];
    EXPECT_EQ(part.sharers, 4u);
  }
  EXPECT_EQ(users, (std::map<uint32_t, int>{{0, 2}, {1, 2}}));
  ASSERT_EQ(shares.notices.size(), 1u);
  EXPECT_NE(shares.notices[0].find("4 ranks on a compete for too few cores: "), std::string::npos) << shares.notices[0];
}

TEST(Share, ARankThatDoesNotKnowItsCoresGetsNone) {
  EXPECT_EQ(cores_of({rank("a", {}), rank("a", {})}), (std::vector<Cores>{{}, {}}));
}

TEST(Share, GpusAreDealtInTurnAndEveryRankKeepsItsCpu) {
  const std::vector<HostDevice> all = {cpu(), gpu(0), gpu(1), gpu(2)};
  EXPECT_EQ(devices_of({rank("a", {0, 1}, all), rank("a", {0, 1}, all)}),
            (std::vector<Ids>{{"host:0", "opencl:0", "opencl:2"}, {"host:0", "opencl:1"}}));
}

TEST(Share, AGpuThatTwoPlatformsListGoesToOneRank) {
  const std::vector<HostDevice> all = {gpu(0), gpu(0, "opencl:5"), gpu(1)};
  EXPECT_EQ(devices_of({rank("a", {0}, all), rank("a", {1}, all)}),
            (std::vector<Ids>{{"opencl:0", "opencl:5"}, {"opencl:1"}}));
}

TEST(Share, GpusThatTheLauncherGaveToOneRankStayThere) {
  // CUDA_VISIBLE_DEVICES has this effect: each rank names its own GPU opencl:0.
  EXPECT_EQ(devices_of({rank("a", {0}, {gpu(0, "opencl:0")}), rank("a", {1}, {gpu(1, "opencl:0")})}),
            (std::vector<Ids>{{"opencl:0"}, {"opencl:0"}}));
  EXPECT_EQ(devices_of({rank("a", {0}, {gpu(0), gpu(1)}), rank("a", {1}, {gpu(0)})}),
            (std::vector<Ids>{{"opencl:1"}, {"opencl:0"}}));
}

TEST(Share, WithoutPhysicalIdsEqualIdsAreOneDevice) {
  const HostDevice nameless{"opencl:0", "", false};
  EXPECT_EQ(devices_of({rank("a", {0}, {nameless}), rank("a", {1}, {nameless, cpu()})}),
            (std::vector<Ids>{{"opencl:0"}, {"host:0"}}));
}

TEST(Share, ARankWithoutDevicesIsNamed) {
  const Shares shares = share({rank("a", {0}, {gpu(0)}), rank("a", {1}, {gpu(0)})});
  EXPECT_TRUE(shares.shares[1].devices.empty());
  EXPECT_EQ(shares.shares[0].devices_of_run, 1u);
  ASSERT_EQ(shares.notices.size(), 1u);
  EXPECT_NE(shares.notices[0].find("rank 1 gets no device"), std::string::npos) << shares.notices[0];
}

}  // namespace
}  // namespace mokume::cluster
