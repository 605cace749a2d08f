// Tests searches that decide by results in a coordinator: successive halving, and trials.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

#include "cluster/harness.hpp"

namespace mokume::cluster {
namespace {

using Fits = std::vector<uint32_t>;
using Records = std::vector<std::optional<journal::FitRecord>>;
using Status = journal::FitStatus;

// Three rungs of four fits in bundles of two, and a refit.
PlannedWork in_rungs() {
  PlannedWork work = make_work(12, 2);
  work.decides = true;
  work.refit_after = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  return work;
}

Fits range(uint32_t first, uint32_t end) {
  Fits fits;
  for (uint32_t fit = first; fit < end; ++fit) fits.push_back(fit);
  return fits;
}

// Begins each rung when the one before is done. `drops` returns what a rung drops.
TestRules dropping(const std::function<Fits(uint32_t rung)>& drops) {
  TestRules rules;
  rules.decides = [drops](const Records& done) {
    Decision decision{range(0, 4), {}, {}};
    for (uint32_t rung = 1; rung < 3; ++rung) {
      for (uint32_t fit = 4 * (rung - 1); fit < 4 * rung; ++fit)
        if (!done[fit]) return decision;
      const Fits dropped = drops(rung);
      decision.dropped.insert(decision.dropped.end(), dropped.begin(), dropped.end());
      for (const uint32_t fit : range(4 * rung, 4 * rung + 4)) decision.begin.push_back(fit);
    }
    return decision;
  };
  return rules;
}

// Drops the second fit of each bundle after the first rung, and the first bundle after the second rung.
TestRules dropping() {
  return dropping([](uint32_t rung) { return rung == 1 ? Fits{5, 7, 9, 11} : Fits{8, 9}; });
}

Harness harness_of(PlannedWork work) {
  return Harness(std::move(work), {{make_device("host:0"), make_device("host:1")}}, dropping());
}

std::map<uint32_t, Status> statuses(const std::vector<journal::FitRecord>& records) {
  std::map<uint32_t, Status> found;
  for (const journal::FitRecord& record : records) found[record.fit] = record.status;
  return found;
}

TEST(Rungs, BeginOnceTheRungBeforeIsDoneWithTheFitsThatAreLeft) {
  Harness harness = harness_of(in_rungs());
  const Grant longest = harness.expect_grant(0, 0), other = harness.expect_grant(0, 1);
  EXPECT_EQ(longest.attempt.fits, (Fits{2, 3}));
  harness.finish(0, longest);
  const auto more = harness.ask(0, 0);
  EXPECT_TRUE(!more || more->attempt.fits == (Fits{0, 1})) << "only a backup may begin";
  EXPECT_TRUE(harness.given_up().empty());
  harness.finish(0, other);
  EXPECT_EQ(harness.given_up().size(), 4U) << "the dropped fits are recorded";
  for (const journal::FitRecord& record : harness.given_up()) EXPECT_EQ(record.status, Status::dropped);
}

TEST(Rungs, LeadToARefitOfWhatIsLeft) {
  Harness harness(in_rungs(), {{make_device("host:0")}}, dropping());
  std::vector<Fits> granted;
  while (const auto grant = harness.ask(0)) {
    granted.push_back(grant->attempt.fits);
    harness.finish(0, *grant);
  }
  EXPECT_EQ(granted, (std::vector<Fits>{{2, 3}, {0, 1}, {6}, {4}, {10}, {12}}));
  EXPECT_TRUE(harness.finished());
  const auto found = statuses(harness.coordinator().records());
  EXPECT_EQ(found.size(), 13U);
  for (const uint32_t fit : {5U, 7U, 8U, 9U, 11U}) EXPECT_EQ(found.at(fit), Status::dropped) << fit;
  for (const uint32_t fit : {0U, 4U, 6U, 10U, 12U}) EXPECT_EQ(found.at(fit), Status::ok) << fit;
}

// The earlier session was killed while it wrote the records of the dropped fits.
TEST(Rungs, ResumeBetweenTwoRungs) {
  PlannedWork work = in_rungs();
  for (const uint32_t fit : {0U, 1U, 2U, 3U}) work.done.push_back(result_of(fit));
  work.done.push_back(result_of(7));
  work.done.back().status = Status::dropped;
  work.done.back().values.clear();
  Harness harness(std::move(work), {{make_device("host:0")}}, dropping());
  EXPECT_EQ(harness.expect_grant(0).attempt.fits, Fits{6});
  EXPECT_EQ(harness.given_up().size(), 3U);
}

// A fit may use the result of an earlier one in its bundle, such as a solution to start from.
TEST(Rungs, KeepTheResultsOfAnEarlierSession) {
  PlannedWork work = in_rungs();
  for (const uint32_t fit : {0U, 1U, 2U, 3U, 6U}) work.done.push_back(result_of(fit));
  const auto drops = [](uint32_t rung) { return rung == 1 ? Fits{8, 9} : Fits{}; };
  Harness harness(std::move(work), {{make_device("host:0")}}, dropping(drops));
  const Grant grant = harness.expect_grant(0);
  EXPECT_EQ(grant.attempt.fits, Fits{7});
  EXPECT_EQ(grant.attempt.done_fits, Fits{6});
}

// Records of a later rung, as a reader may find them in a journal, do not open the rungs in between.
TEST(Rungs, BeginInOrder) {
  PlannedWork work = in_rungs();
  for (const uint32_t fit : {4U, 5U, 6U, 7U}) work.done.push_back(result_of(fit));
  Harness harness(std::move(work), {{make_device("host:0")}}, dropping());
  EXPECT_EQ(harness.expect_grant(0).attempt.fits, (Fits{2, 3}));
  EXPECT_TRUE(harness.given_up().empty());
}

TEST(Rungs, NodesOtherThan0DropNothing) {
  Harness harness(in_rungs(), {{}, {make_device("host:0")}}, dropping());
  const Grant grant = harness.expect_grant(1);
  Done done{grant.lease, {result_of(grant.attempt.fits.front())}};
  done.records.front().status = Status::dropped;
  done.records.front().values.clear();
  harness.say(1, done);
  ASSERT_TRUE(harness.coordinator().stopped());
  EXPECT_NE(harness.coordinator().stopped()->reason.find("only node 0"), std::string::npos);
}

TEST(Rungs, GoOnAfterAFitThatFails) {
  Harness harness(in_rungs(), {{make_device("host:0"), make_device("host:1")}}, dropping());
  for (int tries = 0; tries < 40; ++tries) {
    const uint32_t device = tries % 2;
    const auto grant = harness.ask(0, device);
    if (!grant) continue;
    if (grant->attempt.fits.front() == 2) {
      harness.fail(0, *grant);
    } else {
      harness.finish(0, *grant);
    }
  }
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(statuses(harness.coordinator().records()).at(2), Status::failed);
}

TEST(Rungs, EndWithNobodyLeft) {
  TestRules rules = dropping([](uint32_t) { return Fits{4, 5, 6, 7, 8, 9, 10, 11}; });
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>&) { return Refit{}; };
  Harness harness(in_rungs(), {{make_device("host:0")}}, rules);
  for (int k = 0; k < 2; ++k) harness.finish(0, harness.expect_grant(0));
  EXPECT_TRUE(harness.finished());
}

// Four candidates with a bundle of two fits each, of which two are trials: the last candidate, and then the first one.
PlannedWork in_trials() {
  PlannedWork work = make_work(8, 2);
  work.decides = true;
  work.refit_after = {{0, 1, 2, 3, 4, 5, 6, 7}};
  return work;
}

TestRules choosing() {
  TestRules rules;
  rules.decides = [](const Records& done) {
    if (!done[6] || !done[7]) return Decision{{6, 7}, {}, {}};
    return Decision{{6, 7, 0, 1}, {}, {2, 3, 4, 5}};
  };
  return rules;
}

TEST(Trials, AreComputedAndTheOtherCandidatesHaveNoRecords) {
  Harness harness(in_trials(), {{make_device("host:0")}}, choosing());
  std::vector<Fits> granted;
  while (const auto grant = harness.ask(0)) {
    granted.push_back(grant->attempt.fits);
    harness.finish(0, *grant);
  }
  EXPECT_EQ(granted, (std::vector<Fits>{{6, 7}, {0, 1}, {8}}));
  EXPECT_TRUE(harness.finished());
  EXPECT_TRUE(harness.given_up().empty());
  EXPECT_EQ(harness.coordinator().records().size(), 5U);
}

TEST(Trials, ResumeWithTheTrialThatTheResultsChoose) {
  PlannedWork work = in_trials();
  for (const uint32_t fit : {6U, 7U, 1U}) work.done.push_back(result_of(fit));
  Harness harness(std::move(work), {{make_device("host:0")}}, choosing());
  EXPECT_EQ(harness.expect_grant(0).attempt.fits, Fits{0});
}

// The last bundle waits, because one of its fits is not decided.
TEST(Decisions, ReleaseABundleOnceAllOfItsFitsAreDecided) {
  PlannedWork work = make_work(6, 2);
  work.decides = true;
  TestRules rules;
  rules.decides = [](const Records& done) {
    Decision decision{{0, 1, 3, 4}, {2}, {}};
    if (done[3]) decision.begin.push_back(5);
    return decision;
  };
  Harness harness(std::move(work), {{make_device("host:0")}}, rules);
  std::vector<Fits> granted;
  while (const auto grant = harness.ask(0)) {
    granted.push_back(grant->attempt.fits);
    harness.finish(0, *grant);
  }
  EXPECT_EQ(granted, (std::vector<Fits>{{3}, {0, 1}, {4, 5}}));
  EXPECT_TRUE(harness.finished());
}

// A fit of a bundle that was taken apart needs the notes of the one before.
TEST(Decisions, KeepTheOrderOfABundleThatWasTakenApart) {
  PlannedWork work = make_work(8, 4);
  work.decides = true;
  TestRules rules;
  rules.decides = [](const Records&) { return Decision{range(0, 8), {}, {}}; };
  Harness harness(std::move(work), {{make_device("host:0"), make_device("host:1")}}, rules);
  const Grant first = harness.expect_grant(0, 0), other = harness.expect_grant(0, 1);
  const uint32_t begin = first.attempt.fits.front();
  harness.fail(0, first);
  harness.fail(0, harness.expect_grant(0, 0));  // for the second time
  harness.finish(0, other);                     // is news for the rules
  for (uint32_t fit = begin; fit < begin + 4; ++fit) {
    const Grant one = harness.expect_grant(0, 1);
    EXPECT_EQ(one.attempt.fits, Fits{fit});
    EXPECT_EQ(one.attempt.done_fits.size(), fit - begin);
    harness.finish(0, one);
  }
  EXPECT_TRUE(harness.finished());
}

// The first candidate is too large for the device.
TEST(Decisions, GiveUpATrialThatNoDeviceCanHold) {
  PlannedWork work = in_trials();
  work.bundles.bundles[3].bytes = 5000;
  TestRules rules = choosing();
  Harness harness(std::move(work), {{make_device("host:0")}}, rules);
  EXPECT_EQ(harness.expect_grant(0).attempt.fits, (Fits{0, 1}));
  EXPECT_EQ(harness.given_up().size(), 2U);
}

// One device computes one trial at a time. If it breaks, no trial may be recorded as failed.
TEST(Decisions, DoNotBlameATrialForADeviceThatBroke) {
  PlannedWork work = in_trials();
  Harness harness(std::move(work), {{make_device("host:0")}}, choosing());
  harness.finish(0, harness.expect_grant(0));
  for (int tries = 0; tries < 60 && !harness.coordinator().stopped(); ++tries)
    if (const auto grant = harness.ask(0)) harness.fail(0, *grant);
  EXPECT_TRUE(harness.coordinator().stopped());
  EXPECT_TRUE(harness.given_up().empty());
}

// If the device works, the trial is at fault.
TEST(Decisions, BlameATrialIfTheDeviceStillWorks) {
  Harness harness(in_trials(), {{make_device("host:0")}}, choosing());
  harness.finish(0, harness.expect_grant(0));
  for (int tries = 0; tries < 60 && !harness.finished(); ++tries) {
    const auto grant = harness.ask(0);
    if (!grant) continue;
    const bool bad = grant->attempt.fits.front() < 2;
    bad ? harness.fail(0, *grant) : harness.finish(0, *grant);
  }
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.given_up().size(), 2U);
}

// The rules look at all records, so they are not asked while devices have enough work.
TEST(Decisions, AreMadeWhenWorkRunsOut) {
  PlannedWork work = make_work(40, 1);
  work.decides = true;
  int asked = 0;
  TestRules rules;
  rules.decides = [&](const Records&) {
    ++asked;
    return Decision{range(0, 40), {}, {}};
  };
  Harness harness(std::move(work), {{make_device("host:0")}}, rules);
  while (const auto grant = harness.ask(0)) harness.finish(0, *grant);
  EXPECT_TRUE(harness.finished());
  EXPECT_LT(asked, 10);
}

}  // namespace
}  // namespace mokume::cluster
