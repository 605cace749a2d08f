// A refit on a thread of its own, watched for signs of life: a driver that hangs in it must not hold up the run.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "base/log.hpp"
#include "cluster/types.hpp"
#include "experiment/worker.hpp"
#include "journal/record.hpp"

namespace mokume::experiment {

// Called by the thread that watches, several times a second; must not throw.
struct RefitWatch {
  StepProgress progress;                 // what the work says
  std::function<bool()> stop;            // whether the work is to be cancelled
  std::function<void()> on_left_behind;  // what the work uses must now live until the process ends, by _exit
  std::function<double()> now;           // seconds
  double hang_s = cluster::k_hang_s;     // it hangs after this silence, or as long as it had worked before, if longer
};

using RefitWork = std::function<journal::RefitRecord(const StepProgress& progress, const std::atomic<bool>& stop)>;

// What `work` makes, on a thread of its own. No value: it hangs and was left behind there, cancelled should it ever
// wake. `break_off`: ends it by force, so that it throws; false if that cannot be done. Throws what `work` throws.
std::optional<journal::RefitRecord> watch_refit(const RefitWork& work, const std::function<bool()>& break_off,
                                                const RefitWatch& watch);

// On the first of `devices`, of which there are some. As a fit, it may fail three times, on the next device each; where
// it hangs it is not tried again. Throws the last failure; Error(MK_CANCELLED) if it was to stop.
journal::RefitRecord refit_on_one_of(Worker& worker, const std::vector<uint32_t>& devices, uint32_t candidate,
                                     const RefitWatch& watch, base::Log& log);

}  // namespace mokume::experiment
