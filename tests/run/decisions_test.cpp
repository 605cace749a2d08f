#include "run/decisions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sdk/philox.hpp"

namespace mokume::run {
namespace {

using Records = Decisions::Records;
using Fits = std::vector<uint32_t>;
using Status = journal::FitStatus;

constexpr uint64_t kSeed = 3;

journal::FitRecord record_of(const search::Plan& plan, uint32_t fit) {
  const search::FitKey key = plan.key(fit);
  journal::FitRecord record;
  record.fit = fit;
  if (key.candidate % 13 == 5) {
    record.status = Status::failed;
    return record;
  }
  const double x = std::get<double>(plan.candidates[key.candidate][0]);
  record.values = {std::abs(x - 0.25 - 0.1 * key.bootstrap) + 0.01 * key.fold};
  return record;
}

struct Search {
  std::vector<search::Space> spaces = {{search::Space::Kind::real_uniform, "x", {}, 0, 1}};
  search::Plan plan;
  uint32_t at_once;

  Search(uint32_t candidates, uint32_t trials, uint32_t most, uint32_t bootstraps = 1, bool own = false)
      : at_once(most) {
    plan.candidates = search::random_candidates(spaces, candidates * (own ? bootstraps : 1), kSeed);
    plan.bootstraps = bootstraps;
    plan.own_candidates = own ? candidates : 0;
    plan.folds = 3;
    plan.trials = trials;
  }
  Decisions decisions() const { return Decisions(plan, {{"loss", false, true}}, spaces, kSeed, at_once); }
};

// Computes fits in a random order, one at a time, until nothing begins any more. Returns them, sorted.
Fits computed(const Search& search, uint64_t order, Records done = {}) {
  done.resize(search.plan.n_slots());
  Decisions decisions = search.decisions();
  const sdk::Random random(order, sdk::Purpose::schedule);
  std::set<uint32_t> begun;
  for (uint64_t step = 0;; ++step) {
    const cluster::Decision decision = decisions.decide(done);
    begun.insert(decision.begin.begin(), decision.begin.end());
    Fits open;
    for (const uint32_t fit : begun)
      if (!done[fit]) open.push_back(fit);
    EXPECT_LE(open.size(), size_t{search.at_once} * search.plan.folds * search.plan.bootstraps);
    if (open.empty()) break;
    const uint32_t fit = open[random.below(step, open.size())];
    done[fit] = record_of(search.plan, fit);
  }
  return {begun.begin(), begun.end()};
}

TEST(Trials, DoNotDependOnTheOrderOfResults) {
  for (const uint32_t at_once : {1U, 4U}) {
    const Search search(200, 30, at_once);
    const Fits first = computed(search, 1);
    EXPECT_EQ(first.size(), 30U * 3);
    for (uint64_t order = 2; order < 8; ++order) EXPECT_EQ(computed(search, order), first) << order;
  }
}

TEST(Trials, DependOnResults) {
  const Fits known = computed(Search(200, 30, 1), 1), less_known = computed(Search(200, 30, 8), 1);
  EXPECT_NE(known, less_known);
}

TEST(Trials, GoOnAfterARestartAtAnyMoment) {
  const Search search(120, 20, 3);
  const Fits whole = computed(search, 1);
  for (size_t n = 0; n < whole.size(); n += 7) {
    Records done(search.plan.n_slots());
    Decisions before = search.decisions();
    for (size_t k = 0; k < n; ++k) {
      const Fits begun = before.decide(done).begin;
      const auto next = std::find_if(begun.begin(), begun.end(), [&](uint32_t fit) { return !done[fit]; });
      done[*next] = record_of(search.plan, *next);
    }
    EXPECT_EQ(computed(search, 5, done), whole) << n;
  }
}

TEST(Trials, AreChosenForEachBootstrap) {
  for (const bool own : {false, true}) {
    const Search search(60, 15, 2, 3, own);
    const Fits fits = computed(search, 1);
    std::map<uint32_t, size_t> each;
    for (const uint32_t fit : fits) ++each[search.plan.key(fit).bootstrap];
    EXPECT_EQ(each, (std::map<uint32_t, size_t>{{0, 45}, {1, 45}, {2, 45}}));
  }
}

TEST(Trials, NameOnceWhatNobodyNeeds) {
  const Search search(20, 4, 4);
  Records done(search.plan.n_slots());
  Decisions decisions = search.decisions();
  const cluster::Decision first = decisions.decide(done);
  EXPECT_EQ(first.begin.size(), 4U * 3);
  EXPECT_EQ(first.unneeded.size(), 16U * 3);
  for (const uint32_t fit : first.begin) EXPECT_EQ(std::count(first.unneeded.begin(), first.unneeded.end(), fit), 0);
  EXPECT_TRUE(decisions.decide(done).unneeded.empty());
  EXPECT_TRUE(first.dropped.empty());
}

TEST(Halving, DropsFromOneRungToTheNext) {
  search::Plan plan;
  plan.candidates = search::random_candidates({{search::Space::Kind::real_uniform, "x", {}, 0, 1}}, 8, kSeed);
  plan.folds = 6;
  plan.repeats = 3;
  plan.factor = 2;
  Decisions decisions(plan, {{"loss", false, true}}, {}, kSeed, 1);
  Records done(plan.n_slots());
  for (uint32_t rung = 0; rung < 3; ++rung) {
    const cluster::Decision decision = decisions.decide(done);
    const auto in_rung = [&](uint32_t fit) { return plan.rung_of(fit) == rung; };
    EXPECT_EQ(std::count_if(decision.begin.begin(), decision.begin.end(), in_rung), 2 * (8 >> rung)) << rung;
    for (const uint32_t fit : decision.dropped) {
      done[fit] = journal::FitRecord();
      done[fit]->fit = fit;
      done[fit]->status = Status::dropped;
    }
    for (const uint32_t fit : decision.begin)
      if (!done[fit]) done[fit] = record_of(plan, fit);
  }
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) EXPECT_TRUE(done[fit]) << fit;
}

}  // namespace
}  // namespace mokume::run
