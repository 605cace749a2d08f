// Fit times of earlier runs, which predict later fit times. They come from the journals of a run of the same plan, or
// else from a cache file to which each run adds the speed of its model on its devices.
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

// Groups records by lease. Failed fits are left out.
std::vector<scheduler::TimedWork> timed_work(const std::vector<journal::FitRecord>& records);

// Seconds per unit of the model's cost, by device class.
using Rates = std::map<std::string, double>;

// Stores the rates of `work` in the JSON file `file` under `key`, which identifies the model and the amount of data. An
// unreadable or unwritable file is no error, since only predictions depend on it; a damaged one is set aside with a
// warning.
void remember_rates(const std::string& file, const std::string& key, const scheduler::Workload& workload,
                    const std::vector<scheduler::TimedWork>& work, base::Log& log);
Rates remembered_rates(const std::string& file, const std::string& key, base::Log& log);  // empty if there are none
std::string rates_file();  // file in the cache; "" without a cache
// The key includes the magnitude of the cost: a small network takes longer per multiply-add than a large one.
std::string rates_key(const std::string& model, const data::Dataset& data, const scheduler::Workload& workload);

// After a run: stores its rates for later experiments with the same model and amount of data.
void remember_run(const node::Experiment& experiment, const RunRecord& run, std::vector<journal::FitRecord> records,
                  base::Log& log);

// The expected time of each fit on a device of one class.
struct Expectation {
  std::vector<double> seconds;  // by fit; in the unit of the model's costs if `measured` is false
  bool measured = false;
  std::string source;  // one sentence that names the source
};

// Uses the newest run below `runs` with this plan, else `rates`, else the model's costs. The times are those of
// `device_class` if it was measured, else of the class that was measured most.
Expectation expect(const search::Plan& plan, const scheduler::Workload& workload, const std::string& runs,
                   const Rates& rates, const std::string& device_class);

}  // namespace mokume::run
