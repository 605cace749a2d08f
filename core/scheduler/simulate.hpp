// Simulates how long a run takes: discrete events under the policy of real runs and, for comparison, under three
// simpler rules. The simulation is pure: equal input gives equal results, without threads or I/O.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policy.hpp"

namespace mokume::scheduler {

enum class Rule {
  contiguous,  // before the run, each unit gets an equal number of consecutive bundles of the workload
  shuffled,    // like contiguous, but in random order
  first_come,  // an idle unit takes the next bundle of the workload
  ours         // the rules of Policy
};

struct SimulatedUnit {
  Unit unit;         // the policy knows only this description
  double speed = 1;  // the actual speed
};

// Describes a refit that may start once all fits of its bootstrap are done.
struct SimulatedRefit {
  uint32_t bootstrap = 0;
  uint32_t like = 0;   // a fit of the best candidate; unknown to the policy before the refit may start
  double cost = 0;     // cost in the unit of the bundles
  double seconds = 0;  // time on a unit of speed 1
};

struct Scenario {
  Workload workload;
  std::vector<double> seconds;  // time of each fit on a unit of speed 1, which the policy has to learn
  std::vector<double> losses;   // argument of Policy::scored() for each fit; may be empty
  std::vector<SimulatedUnit> units;
  std::vector<SimulatedRefit> refits;
  double lease_s = 0;      // overhead of messages between the end of work and the start of the next
  double ask_again_s = 1;  // interval at which an idle unit without work asks again; > 0
  uint64_t seed = 0;       // seeds the random order
  bool known = false;      // true if the policy knows `seconds` from earlier runs
};

struct Simulated {
  double makespan_s = 0;
  double efficiency = 0;  // useful work in seconds on a unit of speed 1, divided by makespan * sum of speeds
  uint32_t backups = 0;   // number of copies given
};

// Throws Error(MK_INVALID_ARGUMENT) if there are no units or, for Rule::ours, if a bundle fits on no unit.
Simulated simulate(const Scenario& scenario, Rule rule);

}  // namespace mokume::scheduler
