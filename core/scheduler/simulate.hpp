// How long a run would take: discrete events over the policy of real runs, and over three simpler rules to compare it
// with. Pure: the same input gives the same answer. No threads, no I/O.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policy.hpp"

namespace mokume::scheduler {

enum class Rule {
  contiguous,  // before the run each unit gets an equal number of bundles, one behind the other in the workload
  shuffled,    // the same of a random order
  first_come,  // an idle unit takes the next bundle of the workload
  ours         // Policy
};

struct SimulatedUnit {
  Unit unit;         // as the policy knows it
  double speed = 1;  // as it is
};

// A refit that may start once all fits of its bootstrap are done.
struct SimulatedRefit {
  uint32_t bootstrap = 0;
  uint32_t like = 0;   // a fit of the best candidate, which nobody knows before
  double cost = 0;     // in the unit of the bundles
  double seconds = 0;  // on a unit of speed 1
};

struct Scenario {
  Workload workload;
  std::vector<double> seconds;  // by fit: what it takes on a unit of speed 1, which the policy has to learn
  std::vector<double> losses;   // by fit: what Policy::scored() is told; may be empty
  std::vector<SimulatedUnit> units;
  std::vector<SimulatedRefit> refits;
  double lease_s = 0;      // from an end of work to the start of the next: messages
  double ask_again_s = 1;  // after which an idle unit that got nothing asks again; > 0
  uint64_t seed = 0;       // of the random order
  bool known = false;      // the policy knows `seconds` from earlier runs
};

struct Simulated {
  double makespan_s = 0;
  double efficiency = 0;  // seconds of work that counts, on a unit of speed 1, over makespan * sum of speeds
  uint32_t backups = 0;   // copies given out
};

// Throws Error(MK_INVALID_ARGUMENT) if something can never be done: no units, a bundle that none can hold.
Simulated simulate(const Scenario& scenario, Rule rule);

}  // namespace mokume::scheduler
