// Tests jobs with all kinds of trouble in a machine room, drawn from a seed.
//
//   MOKUME_SIMULATIONS=N    sets the number of jobs (default 1000)
//   MOKUME_SIMULATION=SEED  sets the first seed, to replay one job
#include <gtest/gtest.h>

#include <cstdlib>

#include "simulation/job.hpp"

namespace mokume::simulation {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, EveryJobFinishesWithEveryFit) {
  const uint64_t first = from_environment("MOKUME_SIMULATION", 1);
  const uint64_t jobs = from_environment("MOKUME_SIMULATIONS", 1000);
  Report sum;
  for (uint64_t seed = first; seed < first + jobs; ++seed) {
    const Report report = simulate(seed);
    ASSERT_TRUE(report.faults.empty()) << report.text() << "replay it with MOKUME_SIMULATION=" << seed
                                       << " MOKUME_SIMULATIONS=1";
    sum.starts += report.starts;
    sum.switches += report.switches;
    sum.deaths += report.deaths, sum.freezes += report.freezes, sum.cuts += report.cuts, sum.steps += report.steps;
    sum.full_disks += report.full_disks, sum.slow_disks += report.slow_disks, sum.stops += report.stops;
    sum.failures += report.failures, sum.hangs += report.hangs, sum.takeovers += report.takeovers;
    if (jobs == 1) std::printf("%s", report.text().c_str());
  }
  std::printf(
      "%llu jobs, %u starts, %u takeovers, %u deaths, %u freezes, %u cuts, %u clock steps, %u full disks, %u slow "
      "disks, "
      "%u stops, %u failed fits, %u hangs, %llu switches\n",
      static_cast<unsigned long long>(jobs), sum.starts, sum.takeovers, sum.deaths, sum.freezes, sum.cuts, sum.steps,
      sum.full_disks, sum.slow_disks, sum.stops, sum.failures, sum.hangs,
      static_cast<unsigned long long>(sum.switches));
}

// In one seed, a frozen process took its own absence for a hang of its devices; in the other, a failed run with
// abandoned work freed memory that the work still used.
TEST(Simulation, SeedsThatFailedOnce) {
  for (const uint64_t seed : {31082U, 266198U}) {
    const Report report = simulate(seed);
    EXPECT_TRUE(report.faults.empty()) << report.text();
  }
}

// No second start is needed if rank 0 dies and other ranks are left.
TEST(Simulation, AnotherRankTakesOver) {
  Troubles dies = Troubles::none();
  dies.leader_dies = true;
  uint32_t deaths = 0, takeovers = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const Report report = simulate(seed, dies);
    ASSERT_TRUE(report.faults.empty()) << report.text();
    ASSERT_EQ(report.starts, 1U) << report.text();
    ASSERT_EQ(report.takeovers, report.deaths) << report.text();
    deaths += report.deaths, takeovers += report.takeovers;
  }
  EXPECT_GT(deaths, 500U);
}

// After a minute, node 0 counts as dead, whatever this rank waits for. The rank then waits a minute for ranks to lead,
// and two minutes for the lock of the run directory.
TEST(Simulation, ARankThatIsCutOffEndsAfterFourMinutes) {
  Troubles cut = Troubles::none();
  cut.cut_off_s = 5;
  double longest = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Report report = simulate(seed, cut);
    EXPECT_TRUE(report.faults.empty()) << report.text();
    EXPECT_LE(report.cut_off_s, 243) << report.text();
    longest = std::max(longest, report.cut_off_s);
  }
  EXPECT_GT(longest, 55) << "no rank was cut off while it worked";
}

TEST(Simulation, TheSameSeedGivesTheSameEvents) {
  for (const uint64_t seed : {3U, 77U, 1234U}) {
    const Report one = simulate(seed), again = simulate(seed);
    EXPECT_EQ(one.story, again.story);
    EXPECT_EQ(one.bytes_hash, again.bytes_hash);
    EXPECT_EQ(one.switches, again.switches);
  }
}

}  // namespace
}  // namespace mokume::simulation
