// Fits of earlier runs that need not be computed again: a grid may grow, and another metric may select. A fit is reused
// if everything that its bits depend on is equal: the data and how its inputs are made, the model and its parameters,
// the rows, the seed and the place in the plan (unless the model needs neither), the version of the program, the device
// class, and the choices recorded for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/profile.hpp"
#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "registry/registry.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

struct Reusable {
  std::string directory;                           // of the earlier run
  std::map<std::string, device::Choices> choices;  // of its device classes: those of the new run must be equal
  std::vector<journal::FitRecord> records;         // with the ids of the new plan, sorted by fit
};

// Looks at the newest runs of this version of the program below `output`, and returns what the one with the most equal
// fits offers. Nothing if no run has any. A run that another process holds, or that cannot be read, offers none.
std::optional<Reusable> find_reusable(registry::Registry& registry, const node::Experiment& experiment,
                                      const std::string& output, const std::string& version);

// Keeps the fits of these device classes, and makes them records of the new run: of node 0, without a device, and
// without time, since computing them took none of it.
std::vector<journal::FitRecord> taken_over(std::vector<journal::FitRecord> records,
                                           const std::vector<std::string>& device_classes, double now_s);

}  // namespace mokume::run
