// Tests nodes that fall silent, return, and repeat messages, on a simulated clock.
#include <gtest/gtest.h>

#include "cluster/harness.hpp"
#include "journal/line.hpp"

namespace mokume::cluster {
namespace {

using Kind = journal::EventRecord::Kind;

// Makes two fits and grants node 1 the longer one, fit 1, in lease 1.
class Leases : public testing::Test {
 protected:
  Leases() : harness(make_work(2), {{make_device("host:0")}, {make_device("host:0")}}) {
    harness.nodes(2);
    held = harness.expect_grant(1);
  }
  void lose_node_1() {
    harness.pass(31, {1});
    ASSERT_EQ(harness.count(Kind::lost), 1u);
  }
  void leave_node_0() {
    ASSERT_TRUE(harness.finished());
    EXPECT_FALSE(harness.coordinator().over());
    harness.say(0, Bye{});
  }

  Harness harness;
  Grant held;
};

TEST_F(Leases, LastAsLongAsTheirNodeSendsHeartbeats) {
  harness.finish(0, harness.expect_grant(0));
  harness.pass(100000);
  EXPECT_TRUE(harness.events().empty());
  const auto copy = harness.ask(0);  // the lease has become a straggler
  EXPECT_TRUE(!copy || copy->attempt.backup);
  harness.finish(1, held);
  EXPECT_TRUE(harness.finished());
}

TEST_F(Leases, AreReassignedWithoutAWaitWhenTheirNodeFallsSilent) {
  harness.finish(0, harness.expect_grant(0));
  harness.pass(30, {1});
  EXPECT_TRUE(harness.events().empty());
  harness.pass(1, {1});
  ASSERT_EQ(harness.events().size(), 2u);
  EXPECT_EQ(harness.events()[0].kind, Kind::lost);
  EXPECT_EQ(harness.events()[0].node, 1u);
  EXPECT_EQ(harness.events()[0].text, "node 1 did not respond for 30 s");
  EXPECT_GT(harness.events()[0].time_s, 1030);
  EXPECT_EQ(harness.events()[1].kind, Kind::moved);
  EXPECT_EQ(harness.events()[1].fit, 1);
  EXPECT_EQ(harness.events()[1].device, "host:0");
  EXPECT_EQ(harness.coordinator().lost(), std::vector<uint32_t>{1});
  harness.nodes(1);
  const Grant again = harness.expect_grant(0);
  EXPECT_EQ(again.attempt.fits, held.attempt.fits);
  EXPECT_EQ(again.attempt.number, 2u);
  harness.finish(0, again);
  leave_node_0();
  EXPECT_TRUE(harness.coordinator().over());
  EXPECT_FALSE(harness.coordinator().stopped());
}

TEST_F(Leases, StillCountWhenTheirNodeComesBack) {
  lose_node_1();
  harness.say(1, Done{held.lease, {result_of(1)}});
  ASSERT_EQ(harness.count(Kind::returned), 1u);
  EXPECT_TRUE(harness.coordinator().lost().empty());
  harness.say(1, LeaseEnd{held.lease, MK_OK, "", 40, {}});
  harness.say(1, LeaseEnd{held.lease, MK_OK, "", 40, {}});  // the repetition does no harm
  const Grant rest = harness.expect_grant(1);               // the device takes part again
  EXPECT_EQ(rest.attempt.fits, std::vector<uint32_t>{0});
  harness.finish(1, rest);
  leave_node_0();
  EXPECT_FALSE(harness.coordinator().over());  // the coordinator waits for the node again
  harness.say(1, Bye{});
  EXPECT_TRUE(harness.coordinator().over());
}

TEST(LeasesOfANodeThatComesBack, DoNotMakeOthersWaitForItsDevice) {
  LocalDevice slow = make_device("slow:0"), fast = make_device("fast:0");
  slow.speed = 1;
  fast.speed = 100;
  Harness harness(make_work(2), {{slow}, {fast}});
  harness.nodes(2);
  const Grant old = harness.expect_grant(1);
  harness.pass(31, {1});
  harness.pass(1);
  ASSERT_EQ(harness.count(Kind::returned), 1u);
  for (int i = 0; i < 2; ++i) harness.finish(0, harness.expect_grant(0));  // node 0 must not wait for the faster node
  EXPECT_TRUE(harness.finished());
}

TEST(LeasesOfANodeThatComesBack, AreWaitedForIfNoOtherDeviceIsLeft) {
  Harness harness(make_work(3), {{make_device("host:0")}, {make_device("host:0")}});
  harness.nodes(2);
  const Grant old = harness.expect_grant(1);
  harness.pass(31, {1});
  harness.pass(1);
  const Grant stuck = harness.expect_grant(0);
  harness.say(0, Heartbeat{{{0, stuck.lease, "", 0, 601}}});
  ASSERT_EQ(harness.count(Kind::retired), 1u);
  EXPECT_TRUE(harness.given_up().empty());
  EXPECT_FALSE(harness.coordinator().stopped());
  harness.fail(1, old);
  for (int i = 0; i < 3; ++i) harness.finish(1, harness.expect_grant(1));
  EXPECT_TRUE(harness.finished());
}

TEST_F(Leases, AreCancelledOnAReturningNodeOnceOthersHaveDoneTheirFits) {
  lose_node_1();
  harness.nodes(2);
  harness.finish(0, harness.expect_grant(0));
  EXPECT_EQ(harness.cancelled(1), std::vector<uint64_t>{held.lease});
  harness.say(1, LeaseEnd{held.lease, MK_CANCELLED, "cancelled", 40, {}});
  EXPECT_TRUE(harness.cancelled(1).empty());
  EXPECT_EQ(harness.expect_grant(1).attempt.fits, std::vector<uint32_t>{0});
}

TEST_F(Leases, RetireTheDeviceIfTheyHangOnAReturningNode) {
  lose_node_1();
  harness.nodes(2);
  harness.say(1, Heartbeat{{{0, held.lease, "epoch 3", 0.5, 601}}});
  EXPECT_EQ(harness.count(Kind::retired), 1u);
  EXPECT_EQ(harness.cancelled(1), std::vector<uint64_t>{held.lease});
  EXPECT_EQ(harness.count(Kind::failed), 0u) << "its fit is others' by now";
}

TEST_F(Leases, DoNotCountIfTheyEndLateWithAFailure) {
  lose_node_1();
  harness.fail(1, held);
  EXPECT_EQ(harness.count(Kind::failed), 0u);
  harness.finish(1, harness.expect_grant(1));
  harness.finish(1, harness.expect_grant(1));
  EXPECT_TRUE(harness.finished());
}

TEST_F(Leases, AreCancelledOnceAnotherDeviceHasDoneTheirFits) {
  lose_node_1();
  harness.nodes(2);
  const Grant again = harness.expect_grant(0);
  ASSERT_EQ(again.attempt.fits, held.attempt.fits);
  harness.say(0, Heartbeat{});
  EXPECT_TRUE(harness.cancelled(0).empty());
  harness.finish(1, held);
  EXPECT_EQ(harness.cancelled(0), std::vector<uint64_t>{again.lease});
  EXPECT_EQ(harness.cancelled(0), std::vector<uint64_t>{again.lease});  // repeats until the lease has ended
  EXPECT_TRUE(harness.cancelled(1).empty());
  harness.say(0, LeaseEnd{again.lease, MK_CANCELLED, "cancelled", 1, {}});
  EXPECT_TRUE(harness.cancelled(0).empty());
  EXPECT_EQ(harness.count(Kind::failed), 0u);
  harness.finish(0, harness.expect_grant(0));
  EXPECT_TRUE(harness.finished());
}

TEST_F(Leases, AreNotRepeatedWhileResultsAwaitTheDiskUnlessTheNodeIsLost) {
  harness.finish(0, harness.expect_grant(0));
  harness.say(1, LeaseEnd{held.lease, MK_OK, "", 1, {1}});
  EXPECT_FALSE(harness.ask(0));
  lose_node_1();
  harness.nodes(1);
  EXPECT_EQ(harness.expect_grant(0).attempt.fits, std::vector<uint32_t>{1});
}

TEST_F(Leases, SurviveASuspensionOfNodeZero) {
  harness.sleep(1000);
  harness.pass(5, {1});  // node 1 has sent nothing yet, but node 0 did not listen either
  EXPECT_TRUE(harness.events().empty());
  harness.pass(30, {1});
  EXPECT_EQ(harness.count(Kind::lost), 1u);
}

TEST_F(Leases, ANodeThatDiesWhileTheRunEndsIsNotWaitedFor) {
  harness.say(0, Stop{MK_CANCELLED, "asked to"});
  harness.say(0, Bye{});
  EXPECT_FALSE(harness.coordinator().over());
  harness.pass(60);
  EXPECT_FALSE(harness.coordinator().over());
  harness.pass(31, {1});
  EXPECT_TRUE(harness.coordinator().over());
}

TEST_F(Leases, AreReassignedAtOnceWhenTheirNodeLeavesOrIsKnownToBeDead) {
  harness.finish(0, harness.expect_grant(0));
  harness.say(1, Bye{});
  ASSERT_EQ(harness.count(Kind::lost), 1u);
  EXPECT_EQ(harness.events()[0].text, "node 1 left");
  harness.say(1, Heartbeat{});  // node 1 only waits for the end
  EXPECT_EQ(harness.count(Kind::returned), 0u);
  harness.finish(0, harness.expect_grant(0));
  leave_node_0();
  EXPECT_TRUE(harness.coordinator().over());

  Harness other(make_work(1), {{make_device("host:0")}, {make_device("host:0")}});
  other.expect_grant(1);
  other.coordinator().tick(other.now(), {1});
  EXPECT_EQ(other.events()[0].text, "node 1 died");
  EXPECT_TRUE(other.ask(0));
  EXPECT_EQ(other.coordinator().lost(), std::vector<uint32_t>{1});
}

TEST_F(Leases, StopTheRunWithoutLossIfEveryNodeWithADeviceIsLost) {
  Harness poor(make_work(2), {{}, {make_device("host:0")}});
  poor.nodes(2);
  poor.pass(31, {1});
  ASSERT_TRUE(poor.coordinator().stopped());
  EXPECT_EQ(poor.coordinator().stopped()->code, MK_CANCELLED);
  EXPECT_EQ(poor.coordinator().stopped()->reason, "every node with a working device was lost");
}

// Lets nodes 0 and 1 both complete fit 1, and returns the coordinator's stop, if any.
std::optional<Stop> both_did_it(const std::string& other_device, const journal::FitRecord& other) {
  Harness harness(make_work(2), {{make_device("host:0")}, {make_device(other_device)}});
  harness.nodes(2);
  const Grant first = harness.expect_grant(1);
  harness.pass(31, {1});
  const Grant second = harness.expect_grant(0);
  EXPECT_EQ(first.attempt.fits, second.attempt.fits);
  harness.say(0, Done{second.lease, {result_of(1)}});
  harness.say(1, Done{first.lease, {other}});
  EXPECT_TRUE(journal::same_result(harness.coordinator().records().at(0), result_of(1)));  // the first record counts
  return harness.coordinator().stopped();
}

TEST(Duplicates, OnOneDeviceClassMustBeIdentical) {
  EXPECT_FALSE(both_did_it("host:0", result_of(1)));
  journal::FitRecord other = result_of(1);
  other.values[1] += 1e-9;
  const auto stopped = both_did_it("host:0", other);
  ASSERT_TRUE(stopped);
  EXPECT_NE(stopped->reason.find("fit 1 gave a different result on host:0 of node 1 than on host:0 of node 0"),
            std::string::npos)
      << stopped->reason;
}

TEST(Duplicates, OnDifferentDeviceClassesMayDiffer) {
  journal::FitRecord other = result_of(1);
  other.values[1] += 1e-9;
  EXPECT_FALSE(both_did_it("opencl:0", other));
  other.status = journal::FitStatus::failed;
  EXPECT_FALSE(both_did_it("opencl:0", other)) << "whoever reads the journals says so";
}

}  // namespace
}  // namespace mokume::cluster
