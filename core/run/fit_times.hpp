// Predicts fit times from those of earlier runs. The times come from the journals of a run of the same plan, or else
// from a cache file to which each run adds the speed of its model on its devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "data/dataset.hpp"
#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "run/run_directory.hpp"
#include "scheduler/cost_model.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::run {

// Groups records by lease, without failed fits.
std::vector<scheduler::TimedWork> timed_work(const std::vector<journal::FitRecord>& records);

// Maps device classes to seconds per unit of the model's cost.
using Rates = std::map<std::string, double>;

// Stores the rates of `work` in the JSON file `file` under `key`, which identifies the model and the amount of data. An
// unreadable or unwritable file is no error, because only predictions depend on it; a damaged one is set aside with a
// warning.
void remember_rates(const std::string& file, const std::string& key, const scheduler::Workload& workload,
                    const std::vector<scheduler::TimedWork>& work, base::Log& log);
Rates remembered_rates(const std::string& file, const std::string& key, base::Log& log);  // empty if there are none
std::string rates_file();  // path of the file in the cache, or "" without a cache
// The key includes the magnitude of the cost, because a small network takes longer per multiply-add than a large one.
std::string rates_key(const std::string& model, const data::Dataset& data, const scheduler::Workload& workload);

// Stores the rates of a run that has ended, for later experiments with the same model and amount of data.
void remember_run(const node::Experiment& experiment, const RunRecord& run, std::vector<journal::FitRecord> records,
                  base::Log& log);

// Holds the expected time of each fit on a device of one class.
struct Expectation {
  std::vector<double> seconds;  // indexed by fit; in the unit of the model's costs if `measured` is false
  bool measured = false;
  std::string source;  // text that names the source of the times
};

// Uses the newest run of this plan below `runs`, otherwise `rates`, otherwise the model's costs. The times are those of
// `device_class` if measured, otherwise of the class measured most in the run or the first in `rates`.
Expectation expect(const search::Plan& plan, const scheduler::Workload& workload, const std::string& runs,
                   const Rates& rates, const std::string& device_class);

}  // namespace mokume::run
