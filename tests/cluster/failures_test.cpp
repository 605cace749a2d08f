// Tests work that fails, hangs or does not fit: where it runs next, which part counts as faulty, and how it ends.
#include <gtest/gtest.h>

#include "cluster/harness.hpp"

namespace mokume::cluster {
namespace {

using Kind = journal::EventRecord::Kind;

// Answers every grant of the devices of node 0 with a failure if `poison` returns true, otherwise with results.
void work_off(Harness& harness, uint32_t devices, const std::function<bool(uint32_t device, uint32_t fit)>& poison) {
  for (bool active = true; active && !harness.coordinator().stopped() && !harness.finished();) {
    active = false;
    for (uint32_t device = 0; device < devices; ++device) {
      const auto grant = harness.ask(0, device);
      if (!grant) continue;
      active = true;
      const auto& fits = grant->attempt.fits;
      const auto bad = std::find_if(fits.begin(), fits.end(), [&](uint32_t fit) { return poison(device, fit); });
      if (bad == fits.end()) {
        harness.finish(0, *grant);
        continue;
      }
      Done before{grant->lease, {}};
      for (auto at = fits.begin(); at != bad; ++at) before.records.push_back(result_of(*at));
      harness.say(0, before);
      harness.fail(0, *grant);
    }
  }
}

TEST(FitThatFails, ThreeTimesIsRecordedAsFailedAndTheRunContinues) {
  Harness harness(make_work(5), {{make_device("host:0")}});
  work_off(harness, 1, [](uint32_t, uint32_t fit) { return fit == 3; });
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.count(Kind::failed), 3u);
  EXPECT_EQ(harness.events()[2].attempt, 3u);
  EXPECT_EQ(harness.count(Kind::retired), 0u);
  ASSERT_EQ(harness.given_up().size(), 1u);
  const journal::FitRecord& record = harness.given_up()[0];
  EXPECT_EQ(record.fit, 3u);
  EXPECT_EQ(record.status, journal::FitStatus::failed);
  EXPECT_EQ(record.note, "failed 3 times, last on host:0: it broke");
  EXPECT_GT(record.end_s, 1000);
  const auto records = harness.coordinator().records();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[3].status, journal::FitStatus::failed);
  EXPECT_EQ(records[4].status, journal::FitStatus::ok);
}

TEST(FitThatFails, IsRecordedEvenIfItIsTheLast) {
  Harness harness(make_work(1), {{make_device("host:0")}});
  work_off(harness, 1, [](uint32_t, uint32_t) { return true; });
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.given_up().size(), 1u);
}

TEST(FitThatFails, OnceIsTriedAgain) {
  Harness harness(make_work(3), {{make_device("host:0")}});
  uint32_t failures = 0;
  work_off(harness, 1, [&](uint32_t, uint32_t fit) { return fit == 2 && failures++ == 0; });
  EXPECT_TRUE(harness.finished());
  EXPECT_TRUE(harness.given_up().empty());
  EXPECT_EQ(harness.count(Kind::failed), 1u);
}

TEST(FitThatFails, DoesNotFailOtherFitsThatShareItsWork) {
  Harness harness(make_work(6, 6), {{make_device("host:0")}});
  const Grant whole = harness.expect_grant(0);
  EXPECT_EQ(whole.attempt.fits.size(), 6u);
  harness.fail(0, whole);
  const Grant again = harness.expect_grant(0);  // a single failure may be chance
  EXPECT_EQ(again.attempt.fits.size(), 6u);
  harness.say(0, Done{again.lease, {result_of(0)}});
  harness.fail(0, again);
  const Grant alone = harness.expect_grant(0);
  EXPECT_EQ(alone.attempt.fits.size(), 1u);
  EXPECT_EQ(alone.attempt.done_fits, std::vector<uint32_t>{0});
  EXPECT_EQ(alone.attempt.done_notes, std::vector<std::string>{"n0"});
  EXPECT_EQ(alone.attempt.number, 3u);
  if (alone.attempt.fits[0] == 4) {
    harness.fail(0, alone);
  } else {
    harness.finish(0, alone);
  }
  work_off(harness, 1, [](uint32_t, uint32_t fit) { return fit == 4; });
  EXPECT_TRUE(harness.finished());
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].fit, 4u);
}

class TakenApart : public testing::Test {
 protected:
  TakenApart() {
    harness.fail(0, harness.expect_grant(0));
    harness.fail(0, harness.expect_grant(0));
  }
  bool gets_something(uint32_t device) {  // later, the device may get a copy
    const auto out = harness.say(0, Request{device});
    return std::any_of(out.begin(), out.end(),
                       [](const Outgoing& one) { return std::holds_alternative<Grant>(one.message); });
  }
  Harness harness{make_work(4, 4), {{make_device("host:0"), make_device("host:1")}}};
};

TEST_F(TakenApart, FitsRunOneAfterTheOtherWithTheNotesOfEarlierOnes) {
  for (uint32_t fit = 0; fit < 4; ++fit) {
    const Grant one = harness.expect_grant(0, fit % 2);
    EXPECT_EQ(one.attempt.fits, std::vector<uint32_t>{fit});
    EXPECT_EQ(one.attempt.done_notes.size(), fit);
    EXPECT_FALSE(gets_something(1 - fit % 2)) << "one device alone is at them";
    harness.say(0, LeaseEnd{one.lease, MK_OK, "", 1, {fit}});
    EXPECT_FALSE(gets_something(fit % 2)) << "its note is not there yet";
    harness.say(0, Done{one.lease, {result_of(fit)}});
  }
  EXPECT_TRUE(harness.finished());
}

TEST_F(TakenApart, FitsThatSucceedAfterAFailureClearTheDevice) {
  work_off(harness, 2, [](uint32_t, uint32_t fit) { return fit == 1; });
  EXPECT_TRUE(harness.finished());
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].fit, 1u);
  EXPECT_EQ(harness.count(Kind::retired), 0u);
}

TEST_F(TakenApart, FitsThatAllFailEndTheRunWithoutARecord) {
  work_off(harness, 2, [](uint32_t, uint32_t) { return true; });
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
  EXPECT_TRUE(harness.given_up().empty());
}

TEST_F(TakenApart, FitsWaitForNotesThatAreOnTheirWayToTheDisk) {
  Harness other(make_work(3, 3), {{make_device("host:0")}});
  const Grant whole = other.expect_grant(0);
  other.say(0, LeaseEnd{whole.lease, MK_DEVICE_ERROR, "it broke", 1, {0}});
  EXPECT_FALSE(other.ask(0));
  other.say(0, Done{whole.lease, {result_of(0)}});
  const Grant rest = other.expect_grant(0);
  EXPECT_EQ(rest.attempt.fits, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(rest.attempt.done_notes, std::vector<std::string>{"n0"});
}

TEST(DeviceThatFails, AtOneFitAfterAnotherIsRetiredAndNoFitIsGivenUp) {
  Harness harness(make_work(20), {{make_device("host:0"), make_device("host:1")}});
  work_off(harness, 2, [](uint32_t device, uint32_t) { return device == 1; });
  EXPECT_TRUE(harness.finished());
  EXPECT_TRUE(harness.given_up().empty());
  ASSERT_EQ(harness.count(Kind::retired), 1u);
  const auto retired = std::find_if(harness.events().begin(), harness.events().end(),
                                    [](const auto& one) { return one.kind == Kind::retired; });
  EXPECT_EQ(retired->device, "host:1");
  EXPECT_EQ(harness.coordinator().retired(0), std::vector<uint32_t>{1});
  EXPECT_NE(retired->text.find("it broke"), std::string::npos);
}

TEST(DeviceThatFails, IsNotQuarantinedForOneBadFit) {
  Harness harness(make_work(20), {{make_device("host:0"), make_device("host:1")}});
  work_off(harness, 2, [](uint32_t, uint32_t fit) { return fit == 19 || fit == 7 || fit == 0; });
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.given_up().size(), 3u);
  EXPECT_EQ(harness.count(Kind::retired), 0u);
}

TEST(DeviceThatFails, AsTheLastOneStopsTheRunWithItsErrorAndNoFitIsRecordedAsFailed) {
  Harness harness(make_work(9), {{make_device("host:0"), make_device("host:1")}});
  work_off(harness, 2, [](uint32_t, uint32_t) { return true; });
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
  EXPECT_NE(harness.coordinator().stopped()->reason.find("no working device is left"), std::string::npos);
  EXPECT_NE(harness.coordinator().stopped()->reason.find("it broke"), std::string::npos);
  EXPECT_TRUE(harness.given_up().empty());
  EXPECT_TRUE(harness.coordinator().records().empty());
}

TEST(DeviceThatFails, IsNotQuarantinedForCancelledFits) {
  Harness harness(make_work(2), {{make_device("host:0")}});
  for (int i = 0; i < 5; ++i) harness.fail(0, harness.expect_grant(0), MK_CANCELLED, "cancelled");
  EXPECT_TRUE(harness.events().empty());
  work_off(harness, 1, [](uint32_t, uint32_t) { return false; });
  EXPECT_TRUE(harness.finished());
}

class OutOfMemory : public testing::Test {
 protected:
  Harness harness{make_work(3), {{make_device("host:0", 1000), make_device("opencl:0", 5000)}}};
};

TEST_F(OutOfMemory, MovesAFitToALargerDevice) {
  const Grant longest = harness.expect_grant(0, 0);
  harness.fail(0, longest, MK_OUT_OF_MEMORY, "host:0: a buffer does not fit");
  EXPECT_EQ(harness.count(Kind::moved), 1u);
  while (const auto other = harness.ask(0, 0)) {
    EXPECT_NE(other->attempt.fits, longest.attempt.fits);
    harness.finish(0, *other);
  }
  EXPECT_EQ(harness.expect_grant(0, 1).attempt.fits, longest.attempt.fits);
  EXPECT_EQ(harness.count(Kind::failed), 0u);
  EXPECT_EQ(harness.count(Kind::retired), 0u);
}

TEST_F(OutOfMemory, OnTheLargestDeviceFailsTheFitWithTheFigures) {
  harness.fail(0, harness.expect_grant(0, 1), MK_OUT_OF_MEMORY, "opencl:0: a buffer does not fit");
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].fit, 2u);
  EXPECT_EQ(harness.given_up()[0].note,
            "opencl:0: a buffer does not fit, and the largest budget of a working device is 4.9 KiB; raise "
            "devices.memory or use a device with more");
  work_off(harness, 2, [](uint32_t, uint32_t) { return false; });
  EXPECT_TRUE(harness.finished());
}

TEST_F(OutOfMemory, SplitsABundleBeforeItMovesToALargerDevice) {
  Harness whole(make_work(3, 3), {{make_device("host:0", 1000), make_device("opencl:0", 5000)}});
  const Grant all = whole.expect_grant(0, 1);  // on the largest device
  ASSERT_EQ(all.attempt.fits.size(), 3u);
  whole.fail(0, all, MK_OUT_OF_MEMORY, "a buffer does not fit");
  EXPECT_TRUE(whole.given_up().empty());
  const Grant small = whole.expect_grant(0, 0);
  ASSERT_EQ(small.attempt.fits.size(), 1u);
  whole.fail(0, small, MK_OUT_OF_MEMORY, "a buffer does not fit");
  EXPECT_TRUE(whole.given_up().empty());
  const Grant large = whole.expect_grant(0, 1);
  EXPECT_EQ(large.attempt.fits, small.attempt.fits);
  whole.fail(0, large, MK_OUT_OF_MEMORY, "a buffer does not fit");
  ASSERT_EQ(whole.given_up().size(), 1u);
  EXPECT_EQ(whole.given_up()[0].fit, small.attempt.fits[0]);
  work_off(whole, 2, [](uint32_t, uint32_t) { return false; });
  EXPECT_TRUE(whole.finished());
}

TEST_F(OutOfMemory, DoesNotRetireADevice) {
  for (int i = 0; i < 3; ++i) harness.fail(0, harness.expect_grant(0, 0), MK_OUT_OF_MEMORY, "a buffer does not fit");
  EXPECT_FALSE(harness.ask(0, 0));
  EXPECT_EQ(harness.count(Kind::retired), 0u);
  work_off(harness, 2, [](uint32_t, uint32_t) { return false; });
  EXPECT_TRUE(harness.finished());
  EXPECT_TRUE(harness.given_up().empty());
}

TEST(Unplaceable, FitsFailAtTheStartAndTheRunContinues) {
  PlannedWork setup = make_work(3);
  setup.bundles.bundles[1].bytes = 5000;
  Harness harness(setup, {{make_device("host:0", 1000)}});
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].fit, 1u);
  EXPECT_EQ(harness.given_up()[0].note,
            "it needs 4.9 KiB of memory, and the largest budget of a working device is 1000 B; raise devices.memory "
            "or use a device with more");
  work_off(harness, 1, [](uint32_t, uint32_t) { return false; });
  EXPECT_TRUE(harness.finished());
}

TEST(Unplaceable, FitsOfALostNodeStopTheRunInsteadOfFailing) {
  PlannedWork setup = make_work(2);
  setup.bundles.bundles[1].bytes = 5000;
  Harness harness(setup, {{make_device("host:0", 1000)}, {make_device("opencl:0", 6000)}});
  harness.nodes(2);
  harness.pass(31, {1});
  EXPECT_TRUE(harness.given_up().empty());
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_CANCELLED);
  EXPECT_NE(harness.coordinator().stopped()->reason.find("the node that has it was lost"), std::string::npos);
}

TEST(Unplaceable, FitsFailOnlyOnceTheirDeviceIsRetired) {
  for (const bool broken : {false, true}) {
    PlannedWork setup = make_work(4);
    setup.bundles.bundles[3].bytes = 5000;
    Harness harness(setup, {{make_device("host:0", 1000), make_device("opencl:0", 6000)}});
    harness.fail(0, harness.expect_grant(0, 1));
    EXPECT_TRUE(harness.given_up().empty());
    work_off(harness, 2, [&](uint32_t device, uint32_t) { return broken && device == 1; });
    EXPECT_TRUE(harness.finished());
    EXPECT_EQ(harness.given_up().size(), broken ? 1u : 0u);
    EXPECT_EQ(harness.count(Kind::retired), broken ? 1u : 0u);
  }
}

TEST(DeviceThatHangs, IsRetiredAndItsFitGoesElsewhere) {
  Harness harness(make_work(1), {{make_device("host:0"), make_device("host:1")}});
  const Grant stuck = harness.expect_grant(0, 1);
  harness.say(0, Heartbeat{{{1, stuck.lease, "epoch 3", 0.5, 599}}});
  EXPECT_FALSE(harness.ask(0, 0));
  harness.say(0, Heartbeat{{{1, stuck.lease, "epoch 3", 0.5, 601}}});
  ASSERT_EQ(harness.count(Kind::retired), 1u);
  EXPECT_EQ(harness.cancelled(0), std::vector<uint64_t>{stuck.lease});
  const Grant again = harness.expect_grant(0, 0);
  EXPECT_EQ(again.attempt.fits, stuck.attempt.fits);
  harness.say(0, Heartbeat{{{1, stuck.lease, "epoch 3", 0.5, 700}}});  // the coordinator already knows
  EXPECT_EQ(harness.count(Kind::retired), 1u);
  harness.finish(0, again);
  EXPECT_TRUE(harness.finished());
}

TEST(DeviceThatHangs, AsTheLastOneStopsTheRun) {
  Harness harness(make_work(2), {{make_device("host:0")}});
  const Grant stuck = harness.expect_grant(0, 0);
  harness.say(0, Heartbeat{{{0, stuck.lease, "", 0, 601}}});
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
  EXPECT_NE(harness.coordinator().stopped()->reason.find("no sign of life for 601 s"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cluster
