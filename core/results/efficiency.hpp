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
  double speed = 0;  // measured before the run, relative to other devices; 0 if unknown
  // Approximate starts of the device's sessions, in seconds since the epoch. Empty stands for all sessions of its node.
  std::vector<double> sessions = {};
};

const char* to_text(Speeds speeds);  // "none", "measured" or "estimated"

struct Efficiency {
  double value = 0;  // in [0, 1]
  Speeds source = Speeds::none;
  std::vector<double> speeds;  // speeds used, by member
};

// Returns the sum over devices of (time at work x speed), divided by the sum over devices of (time present x speed).
//
// The time at work is the union of the intervals of the fits that count, without repeats and attempts without a result.
// The time present is the time between the first start and the last end of a fit in which the device's node was in a
// session and neither the node lost (until its return or next session) nor the device retired (until the next session).
//
// If any speed is unknown, the speed of a device is the work per busy second of its class, or the lowest such value if
// the class finished nothing. `work` is the model's cost of each fit, by id, in any unit; without it, all are equal.
Efficiency efficiency(const std::vector<Member>& members, const journal::Contents& contents,
                      const std::vector<double>& work);

}  // namespace mokume::results
