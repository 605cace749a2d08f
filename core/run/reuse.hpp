// Reuses fits of earlier runs, because a grid may grow or another metric may select. Reuses a fit if everything that
// determines its bits is equal: the data and the preparation of its inputs, the model and its parameters, the rows, the
// seed and the place in the plan (unless the model needs neither), the version of the program, the device class, and
// the choices recorded for it.
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
  std::string directory;                           // directory of the earlier run
  std::map<std::string, device::Choices> choices;  // by device class; those of the new run must be equal
  std::vector<journal::FitRecord> records;         // records with the ids of the new plan, sorted by fit
  std::map<uint32_t, uint32_t> earlier;            // ids of these fits in the earlier plan, by their new ids
};

// Reads the newest runs of this version below `output`, and returns the fits of the run with the most equal fits, or
// nothing if no run has any. Skips runs that another process holds or that cannot be read.
std::optional<Reusable> find_reusable(registry::Registry& registry, const node::Experiment& experiment,
                                      const std::string& output, const std::string& version);

// Turns the fits of these device classes into records of the new run. They belong to node 0, without device or time,
// because this run did not compute them.
std::vector<journal::FitRecord> taken_over(std::vector<journal::FitRecord> records,
                                           const std::vector<std::string>& device_classes, double now_s);

}  // namespace mokume::run
