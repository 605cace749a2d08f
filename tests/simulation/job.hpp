// Runs a whole job in a simulated machine room: starts the job, causes trouble, restarts the job until it is done, and
// checks the files that it leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mokume::simulation {

// Selects the kinds of trouble in a simulation. The seed draws when and how often they occur.
struct Troubles {
  bool deaths = true, freezes = true, cuts = true, loss = true, clock_steps = true;
  bool full_disk = true, slow_disk = true, stops = true;
  bool broken_devices = true, hanging_devices = true;
  std::optional<double> cut_off_s = {};  // rank 1 loses its connection for good, this long after the first start
  bool leader_dies = false;              // rank 0 is killed in the first start, which has several ranks

  static Troubles none() { return {false, false, false, false, false, false, false, false, false, false}; }
};

struct Report {
  uint64_t seed = 0;
  std::vector<std::string> faults;  // violations; none if all is well
  std::vector<std::string> story;   // the caused trouble, and the end of each start
  uint32_t starts = 0;
  uint64_t switches = 0;    // number of switches between threads
  uint64_t bytes_hash = 0;  // hash of all journals at the end
  double cut_off_s = 0;     // time that rank 1 lived after it was cut off for good; 0 if it had ended before
  uint32_t takeovers = 0;   // number of times that another rank became rank 0
  uint32_t deaths = 0, freezes = 0, cuts = 0, steps = 0, full_disks = 0, slow_disks = 0, stops = 0, failures = 0,
           hangs = 0;

  std::string text() const;
};

// The same seed gives the same report.
Report simulate(uint64_t seed, const Troubles& troubles = {});

}  // namespace mokume::simulation
