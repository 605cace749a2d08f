// Simulates how long a run takes: discrete events under the policy of real runs, and under three simpler rules for
// comparison. Pure: equal input gives equal results. No threads, no I/O.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policy.hpp"

namespace mokume::scheduler {

enum class Rule {
  contiguous,  // before the run, each unit gets an equal number of consecutive bundles of the workload
  shuffled,    // the same for a random order
  first_come,  // an idle unit takes the next bundle of the workload
  ours         // Policy
};

struct SimulatedUnit {
  Unit unit;         // as given to the policy
  double speed = 1;  // the actual speed
};

// A refit that may start once all fits of its bootstrap are done.
struct SimulatedRefit {
  uint32_t bootstrap = 0;
  uint32_t like = 0;   // a fit of the best candidate, which is unknown before
  double cost = 0;     // in the unit of the bundles
  double seconds = 0;  // on a unit of speed 1
};

struct Scenario {
  Workload workload;
  std::vector<double> seconds;  // by fit: time on a unit of speed 1, which the policy has to learn
  std::vector<double> losses;   // by fit: the argument of Policy::scored(); may be empty
  std::vector<SimulatedUnit> units;
  std::vector<SimulatedRefit> refits;
  double lease_s = 0;      // from the end of one work to the start of the next: messages
  double ask_again_s = 1;  // interval at which an idle unit without work asks again; > 0
  uint64_t seed = 0;       // for the random order
  bool known = false;      // the policy has `seconds` from earlier runs
};

struct Simulated {
  double makespan_s = 0;
  double efficiency = 0;  // useful work in seconds on a unit of speed 1, over makespan * sum of speeds
  uint32_t backups = 0;   // number of copies given
};

// Throws Error(MK_INVALID_ARGUMENT) if some work can never be done: no units, or a bundle that none can hold.
Simulated simulate(const Scenario& scenario, Rule rule);

}  // namespace mokume::scheduler
