// Tests the refits that a coordinator grants once the fits of a bootstrap are done.
#include <gtest/gtest.h>

#include "cluster/harness.hpp"

namespace mokume::cluster {
namespace {

// Makes two fits per bootstrap. The best fit is always the last in the list.
PlannedWork bagged(uint32_t bootstraps) {
  PlannedWork setup = make_work(2 * bootstraps);
  for (uint32_t b = 0; b < bootstraps; ++b) setup.refit_after.push_back({2 * b, 2 * b + 1});
  return setup;
}

void work_off_fits(Harness& harness, uint32_t fits) {
  for (uint32_t k = 0; k < fits; ++k) harness.finish(0, harness.expect_grant(0));
}

TEST(Refits, StartOnceTheirFitsAreDone) {
  Harness harness(bagged(1), {{make_device("host:0"), make_device("host:1")}});
  const Grant first = harness.expect_grant(0, 0), second = harness.expect_grant(0, 1);
  harness.finish(0, first);
  const auto copy = harness.ask(0, 0);
  EXPECT_FALSE(copy && copy->attempt.refit) << "one fit is at work";
  harness.finish(0, second);
  const Grant refit = harness.expect_grant(0, 1);
  EXPECT_EQ(refit.attempt.fits, std::vector<uint32_t>{2});
  EXPECT_EQ(refit.attempt.refit, 1u);
  EXPECT_TRUE(refit.attempt.done_fits.empty());
  EXPECT_FALSE(harness.finished());
  harness.finish(0, refit);
  EXPECT_TRUE(harness.finished());
  EXPECT_EQ(harness.coordinator().records().size(), 3u);
}

TEST(Refits, GetTheNotesThatTheirRulesName) {
  TestRules rules;
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>&) {
    Refit refit;
    refit.candidate = refit.like = 1;
    refit.fits = {1, 0};
    refit.cost = 1;
    return refit;
  };
  Harness harness(bagged(1), {{make_device("host:0"), make_device("host:1")}}, rules);
  const Grant first = harness.expect_grant(0, 0), second = harness.expect_grant(0, 1);
  harness.finish(0, first);
  harness.finish(0, second);
  const Grant refit = harness.expect_grant(0, 1);
  EXPECT_EQ(refit.attempt.fits, std::vector<uint32_t>{2});
  EXPECT_EQ(refit.attempt.done_fits, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(refit.attempt.done_notes, (std::vector<std::string>{"n1", "n0"}));
}

// If two devices of different classes complete the same fit, the first record counts, wherever the files list it, and
// determines the refit.
TEST(Refits, FollowFromTheRecordsThatCameFirst) {
  PlannedWork setup = bagged(1);
  TestRules rules;
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>& fits) {
    Refit refit;
    refit.candidate = refit.like = fits[0].values[0] <= fits[1].values[0] ? 0 : 1;
    refit.cost = 1;
    refit.bytes = 100;
    return refit;
  };
  LocalDevice card = make_device("opencl:0");
  card.device_class = "opencl/card";
  Harness harness(std::move(setup), {{card}, {make_device("host:0")}}, rules);
  harness.nodes(2);
  const Grant slow = harness.expect_grant(0), other = harness.expect_grant(1);
  harness.finish(1, other);
  std::optional<Grant> copy;
  for (int i = 0; i < 1000 && !copy; ++i) copy = harness.ask(1);
  ASSERT_TRUE(copy);
  ASSERT_EQ(copy->attempt.fits, slow.attempt.fits);
  harness.finish(1, *copy);
  const Grant refit = harness.expect_grant(1);
  EXPECT_EQ(harness.count(Harness::Kind::superseded), 0u);
  journal::FitRecord late = result_of(slow.attempt.fits[0]);
  late.values[0] += 1;
  harness.say(0, Done{slow.lease, {late}});
  ASSERT_EQ(harness.count(Harness::Kind::superseded), 1u);
  EXPECT_EQ(harness.events().back().node, 0u);
  EXPECT_EQ(harness.events().back().attempt, slow.attempt.number);
  EXPECT_EQ(harness.events().back().fit, late.fit);
  harness.finish(1, refit);
  for (const journal::FitRecord& one : harness.coordinator().records()) EXPECT_EQ(one.node, 1u);
}

TEST(Refits, GetANewAttemptNumberWhenTrainedAgain) {
  PlannedWork setup = bagged(1);
  setup.done = {result_of(0), result_of(1)};
  setup.attempts = {{0, 1}, {1, 1}, {2, 3}};
  Harness harness(std::move(setup), {{make_device("host:0")}});
  EXPECT_EQ(harness.expect_grant(0).attempt.number, 4u);
}

// Each of two bootstraps has candidates that take 4 and 1, and one fold of each is done. If the long candidate leads, a
// long refit follows, so the other fits of that bootstrap go first.
TEST(Refits, DecideTheOrderByTheLossesOfFits) {
  for (const uint32_t leads : {0U, 1U}) {
    PlannedWork setup = make_work(8);
    setup.bundles.positions.clear();
    for (uint32_t fit = 0; fit < 8; ++fit) {
      setup.bundles.positions.push_back({fit / 4, fit % 2, {fit % 4 < 2 ? 0.2 : 0.1}});
      setup.bundles.bundles[fit].cost = fit % 4 < 2 ? 4 : 1;
      setup.bundles.bundles[fit].affinity = fit;
    }
    setup.bundles.refit_share = 2;
    setup.refit_after = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    std::vector<uint32_t> asked;
    TestRules rules;
    rules.scored = [&](const journal::FitRecord& fit) {
      asked.push_back(fit.fit);
      const bool is_long = fit.fit % 4 < 2;
      return is_long == (fit.fit / 4 == leads) ? 0.1 : 0.9;
    };
    for (const uint32_t fit : {0U, 1U, 2U, 4U, 5U, 6U}) setup.done.push_back(result_of(fit));
    Harness harness(std::move(setup), {{make_device("host:0")}}, rules);
    EXPECT_EQ(asked, (std::vector<uint32_t>{0, 1, 2, 4, 5, 6}));
    EXPECT_EQ(harness.expect_grant(0).attempt.fits, std::vector<uint32_t>{leads == 0 ? 3U : 7U});
  }
}

TEST(Refits, StartWhileOtherBootstrapsAreAtWork) {
  Harness harness(bagged(2), {{make_device("host:0")}});
  std::vector<uint32_t> order;
  for (int k = 0; k < 6; ++k) {
    const Grant grant = harness.expect_grant(0);
    order.push_back(grant.attempt.fits.front());
    EXPECT_EQ(grant.attempt.refit.has_value(), grant.attempt.fits.front() >= 4);
    harness.finish(0, grant);
  }
  EXPECT_TRUE(harness.finished());
  const auto place = [&](uint32_t fit) { return std::find(order.begin(), order.end(), fit) - order.begin(); };
  EXPECT_LT(std::min(place(4), place(5)), 5) << "not both at the end";
  for (uint32_t b = 0; b < 2; ++b) EXPECT_GT(place(4 + b), std::max(place(2 * b), place(2 * b + 1)));
}

TEST(Refits, AreDoneByAnotherNodeIfTheFirstIsLost) {
  Harness harness(bagged(1), {{make_device("host:0")}, {make_device("host:0")}});
  harness.nodes(2);
  work_off_fits(harness, 2);
  const Grant lost = harness.expect_grant(1);
  EXPECT_EQ(lost.attempt.refit, 1u);
  harness.pass(40, {1});
  const Grant again = harness.expect_grant(0);
  EXPECT_EQ(again.attempt.refit, 1u);
  EXPECT_GT(again.attempt.number, lost.attempt.number) << "each attempt has a directory of its own";
  harness.finish(0, again);
  EXPECT_TRUE(harness.finished());
}

TEST(Refits, AreReportedIfTheyKeepFailing) {
  Harness harness(bagged(2), {{make_device("host:0"), make_device("host:1")}});
  uint32_t failures = 0;
  while (const auto grant = harness.ask(0, failures % 2)) {
    if (grant->attempt.fits.front() == 5) {
      ++failures;
      harness.fail(0, *grant);
    } else {
      harness.finish(0, *grant);
    }
  }
  EXPECT_EQ(failures, 3u);
  EXPECT_TRUE(harness.finished());
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].fit, 5u);
  EXPECT_EQ(harness.given_up()[0].refit, 3u);
}

TEST(Refits, WithoutACandidateAreReported) {
  PlannedWork setup = bagged(1);
  TestRules rules;
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>&) {
    Refit refit;
    refit.why = "nothing came out";
    return refit;
  };
  Harness harness(std::move(setup), {{make_device("host:0")}}, rules);
  work_off_fits(harness, 2);
  EXPECT_TRUE(harness.finished());
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_EQ(harness.given_up()[0].note, "nothing came out");
  EXPECT_FALSE(harness.given_up()[0].refit);
}

TEST(Refits, AreReportedIfTooLargeForEveryDevice) {
  PlannedWork setup = bagged(1);
  TestRules rules;
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>&) {
    Refit refit;
    refit.candidate = 0;
    refit.bytes = 2000;
    return refit;
  };
  Harness harness(std::move(setup), {{make_device("host:0", 1000)}}, rules);
  work_off_fits(harness, 2);
  EXPECT_TRUE(harness.finished());
  ASSERT_EQ(harness.given_up().size(), 1u);
  EXPECT_NE(harness.given_up()[0].note.find("raise devices.memory"), std::string::npos);
}

TEST(Refits, StartAtOnceIfThereAreNoFits) {
  PlannedWork setup = make_work(0);
  setup.refit_after = {{}};
  TestRules rules;
  rules.chosen = [](uint32_t, const std::vector<journal::FitRecord>&) {
    Refit refit;
    refit.candidate = 0;
    return refit;
  };
  Harness harness(std::move(setup), {{make_device("host:0")}}, rules);
  const Grant grant = harness.expect_grant(0);
  EXPECT_EQ(grant.attempt.refit, 0u);
  EXPECT_EQ(grant.attempt.fits, std::vector<uint32_t>{0});
  harness.finish(0, grant);
  EXPECT_TRUE(harness.finished());
}

TEST(Refits, AreNotRepeatedIfAJournalHasThem) {
  PlannedWork setup = bagged(1);
  for (uint32_t fit = 0; fit < 3; ++fit) setup.done.push_back(result_of(fit));
  Harness harness(std::move(setup), {{make_device("host:0")}});
  EXPECT_FALSE(harness.ask(0));
  EXPECT_TRUE(harness.finished());
}

TEST(Refits, AreTrainedIfNoJournalHasThem) {
  PlannedWork setup = bagged(1);
  for (uint32_t fit = 0; fit < 2; ++fit) setup.done.push_back(result_of(fit));
  Harness harness(std::move(setup), {{make_device("host:0")}});
  EXPECT_EQ(harness.expect_grant(0).attempt.refit, 1u);
}

}  // namespace
}  // namespace mokume::cluster
