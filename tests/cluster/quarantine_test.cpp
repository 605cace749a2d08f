// Tests whether the fit, its candidate or the device counts as faulty.
#include "cluster/coordinator/failures.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "cluster/harness.hpp"

namespace mokume::cluster {
namespace {

using Kind = journal::EventRecord::Kind;

// Lets all devices of node 0 work at the same time. A device fails if `poison` returns true.
void work_side_by_side(Harness& harness, uint32_t devices,
                       const std::function<bool(uint32_t device, uint32_t fit)>& poison) {
  for (bool active = true; active && !harness.coordinator().stopped() && !harness.finished();) {
    std::vector<std::optional<Grant>> grants;
    for (uint32_t device = 0; device < devices; ++device) grants.push_back(harness.ask(0, device));
    active = false;
    for (uint32_t device = 0; device < devices; ++device) {
      if (!grants[device]) continue;
      active = true;
      const uint32_t fit = grants[device]->attempt.fits.front();
      if (poison(device, fit)) {
        harness.fail(0, *grants[device]);
      } else {
        harness.finish(0, *grants[device]);
      }
    }
  }
}

// Returns candidates of `folds` fits each. Later candidates cost more, so the coordinator grants them first.
PlannedWork make_candidates(uint32_t n, uint32_t folds) {
  PlannedWork setup = make_work(n * folds);
  for (uint32_t fit = 0; fit < n * folds; ++fit)
    setup.bundles.positions.push_back({0, fit % folds, {1.0 * (fit / folds)}});
  return setup;
}

std::vector<LocalDevice> three_devices() { return {make_device("a:0"), make_device("b:0"), make_device("c:0")}; }

TEST(PoisonCandidate, FailsOnManyDevicesAtOnceAndNoneIsQuarantined) {
  Harness harness(make_candidates(4, 5), {three_devices()});
  work_side_by_side(harness, 3, [](uint32_t, uint32_t fit) { return fit >= 15; });
  EXPECT_TRUE(harness.finished()) << harness.coordinator().stopped()->reason;
  EXPECT_EQ(harness.count(Kind::retired), 0u);
  EXPECT_EQ(harness.given_up().size(), 5u);
}

TEST(PoisonCandidate, RetiresNoDeviceEvenIfTheTwoMostExpensiveOnesFail) {
  for (uint32_t devices = 1; devices <= 3; ++devices) {
    std::vector<LocalDevice> local = three_devices();
    local.resize(devices);
    Harness harness(make_candidates(4, 5), {local});
    work_side_by_side(harness, devices, [](uint32_t, uint32_t fit) { return fit >= 10; });
    EXPECT_TRUE(harness.finished()) << devices << " devices";
    EXPECT_EQ(harness.count(Kind::retired), 0u) << devices << " devices";
    EXPECT_EQ(harness.given_up().size(), 10u) << devices << " devices";
  }
}

TEST(PoisonCandidate, IsDistinguishedFromABrokenDevice) {
  Harness harness(make_candidates(6, 5), {three_devices()});
  work_side_by_side(harness, 3, [](uint32_t device, uint32_t fit) { return device == 1 || fit >= 25; });
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.coordinator().retired(0), std::vector<uint32_t>{1});
  ASSERT_EQ(harness.given_up().size(), 5u);
  for (const journal::FitRecord& one : harness.given_up()) EXPECT_GE(one.fit, 25u);
}

TEST(PoisonCandidate, EndsTheRunIfNothingHasEverWorked) {
  Harness harness(make_candidates(2, 5), {three_devices()});
  work_side_by_side(harness, 3, [](uint32_t, uint32_t) { return true; });
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
  EXPECT_NE(harness.coordinator().stopped()->reason.find("it broke"), std::string::npos);
  EXPECT_TRUE(harness.given_up().empty());
}

TEST(DeviceThatFailed, IsTestedWithWorkThatSucceededElsewhereOrWithAnotherCandidate) {
  PlannedWork setup = make_candidates(4, 2);
  setup.done = {result_of(2)};
  Harness harness(setup, {{make_device("host:0")}});
  const Grant first = harness.expect_grant(0);
  EXPECT_EQ(first.attempt.fits, std::vector<uint32_t>{7});
  harness.fail(0, first);
  const Grant sure = harness.expect_grant(0);
  EXPECT_EQ(sure.attempt.fits, std::vector<uint32_t>{3}) << "candidate 1 has worked";
  harness.finish(0, sure);
  harness.fail(0, harness.expect_grant(0));
  const Grant other = harness.expect_grant(0);
  ASSERT_EQ(other.attempt.fits.size(), 1u);
  EXPECT_LT(other.attempt.fits[0], 2u) << "the shortest candidate";
}

TEST(DeviceThatFailed, WorksIfAnyFitOfItsLeaseWasDone) {
  Harness harness(make_work(12, 4), {{make_device("host:0")}});
  harness.fail(0, harness.expect_grant(0));
  const Grant half = harness.expect_grant(0);
  harness.say(0, Done{half.lease, {result_of(half.attempt.fits[0])}});
  harness.fail(0, half);
  EXPECT_EQ(harness.count(Kind::retired), 0u);
}

PlannedWork after_a_session(const std::string& device) {
  PlannedWork setup = make_candidates(4, 5);
  for (uint32_t fit = 0; fit < 10; ++fit) {
    setup.done.push_back(result_of(fit));
    setup.done.back().device_class = make_device(device).device_class;
  }
  return setup;
}

TEST(LastDevice, IsTestedWithWorkItHasDoneBeforeItIsRetired) {
  Harness harness(after_a_session("host:0"), {{make_device("host:0")}});
  work_side_by_side(harness, 1, [](uint32_t, uint32_t fit) { return fit >= 10; });
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.count(Kind::retired), 0u);
  EXPECT_EQ(harness.given_up().size(), 10u);
}

TEST(LastDevice, IsRetiredAtNoCostToFitsIfItCannotRepeatItsWork) {
  Harness harness(after_a_session("host:0"), {{make_device("host:0")}});
  work_side_by_side(harness, 1, [](uint32_t, uint32_t) { return true; });
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
  EXPECT_TRUE(harness.given_up().empty());
  ASSERT_EQ(harness.count(Kind::retired), 1u);
  EXPECT_EQ(harness.events().back().text, "it failed on fit 0, which its class can do, with: it broke");
}

TEST(LastDevice, IsRetiredIfItGivesAnotherResultThanBefore) {
  Harness harness(after_a_session("host:0"), {{make_device("host:0")}});
  harness.fail(0, harness.expect_grant(0));
  harness.fail(0, harness.expect_grant(0));
  const Grant probe = harness.expect_grant(0);
  ASSERT_EQ(probe.attempt.fits, std::vector<uint32_t>{0});
  journal::FitRecord other = result_of(0);
  other.values[0] += 1;
  harness.say(0, Done{probe.lease, {other}});
  EXPECT_EQ(harness.count(Kind::retired), 1u);
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_EQ(harness.coordinator().stopped()->code, MK_DEVICE_ERROR);
}

TEST(LastDevice, IsNotTestedWithTheWorkOfOthers) {
  Harness harness(after_a_session("opencl:0"), {{make_device("host:0")}});
  work_side_by_side(harness, 1, [](uint32_t, uint32_t fit) { return fit >= 10; });
  EXPECT_TRUE(harness.coordinator().stopped());
  EXPECT_TRUE(harness.given_up().empty());
}

TEST(Failures, QuarantineADeviceAfterTwoLeasesWithoutACandidateInCommon) {
  Failures failures(2, {0, 0, 0, 1, 1});
  EXPECT_FALSE(failures.failed(0, {0, 3}));
  EXPECT_FALSE(failures.failed(0, {1}));
  EXPECT_FALSE(failures.failed(0, {0}));
  EXPECT_FALSE(failures.failed(0, {0}));
  EXPECT_TRUE(failures.too_often(0));
  EXPECT_TRUE(failures.has_failed(2));
  EXPECT_TRUE(failures.failed(0, {4}));
  EXPECT_EQ(failures.reinstate(0), std::vector<uint32_t>{0});
  EXPECT_FALSE(failures.too_often(0));
  EXPECT_FALSE(failures.has_failed(2));
}

TEST(Failures, CountAgainstACandidateThatFailsOnTwoDevices) {
  Failures failures(3);
  EXPECT_FALSE(failures.failed(0, {1}));
  EXPECT_FALSE(failures.failed(1, {1}));
  EXPECT_FALSE(failures.failed(0, {2})) << "1 does not count";
  EXPECT_TRUE(failures.failed(0, {3}));
}

TEST(Failures, DoNotRetireTheLastDeviceForFitsThatFailedOnARetiredOne) {
  for (const bool last : {false, true}) {
    Failures failures(2);
    EXPECT_FALSE(failures.failed(0, {1}));
    EXPECT_TRUE(failures.failed(0, {2}));
    failures.reinstate(0);
    EXPECT_FALSE(failures.failed(1, {1}, last));
    EXPECT_EQ(failures.failed(1, {2}, last), !last);
    EXPECT_FALSE(failures.failed(1, {3}, last) && last) << "3 failed here alone, but once";
    EXPECT_TRUE(failures.failed(1, {4}, last));
  }
}

TEST(Failures, AreProvenByWorkOfTheSameDevice) {
  Failures failures(2);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(failures.failed(0, {5}));
  EXPECT_TRUE(failures.too_often(5));
  EXPECT_FALSE(failures.proven(5));
  failures.worked(1);
  EXPECT_FALSE(failures.proven(5));
  failures.worked(0);
  EXPECT_TRUE(failures.proven(5));
  EXPECT_FALSE(failures.failed(0, {6}));  // the success ended the consecutive failures
}

}  // namespace
}  // namespace mokume::cluster
