// Measures how well a run used its devices.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

struct Member {
  uint32_t node = 0;
  std::string id;  // "opencl:0"
  std::string device_class;
  double speed = 0;  // measured before the run, relative to other devices; 0: unknown
  // Approximate starts of its sessions, in seconds since the epoch; empty: all sessions of its node.
  std::vector<double> sessions = {};
};

const char* to_text(Speeds speeds);  // "none", "measured", "estimated"

struct Efficiency {
  double value = 0;  // in [0, 1]
  Speeds source = Speeds::none;
  std::vector<double> speeds;  // speeds used, by member
};

// sum over devices of (time at work x speed) / sum over devices of (time present x speed).
//
// Time at work: the union of the intervals of the fits that count, without repeats and attempts without a result. Time
// present: from the first start of a fit to the last end, while the device's node was in a session, until the device
// was retired or its node lost (until the node returned or began another session).
//
// `work` is the model's cost of each fit, by id, in any unit. It is used for all devices if any speed is unknown.
// Without it, all fits count as equal work. A class that finished nothing counts as fast as the slowest other class.
Efficiency efficiency(const std::vector<Member>& members, const journal::Contents& contents,
                      const std::vector<double>& work);

}  // namespace mokume::results
