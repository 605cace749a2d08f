// The times of fits in earlier runs, to predict later ones: from the journals of a run of the same plan, or else from a
// file in the cache to which each run adds how fast its model was on its devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "run/run_directory.hpp"
#include "scheduler/cost_model.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::run {

// Records of one lease, put together. Those of failed fits are left out.
std::vector<scheduler::TimedWork> timed_work(const std::vector<journal::FitRecord>& records);

// Seconds for one unit of the model's cost, by device class.
using Rates = std::map<std::string, double>;

// Keeps what `work` says in `file`, JSON, under `key`: which model on how much data. A file that cannot be read or
// written is left alone, since nothing but predictions depends on it.
void remember_rates(const std::string& file, const std::string& key, const scheduler::Workload& workload,
                    const std::vector<scheduler::TimedWork>& work);
Rates remembered_rates(const std::string& file, const std::string& key);  // empty if there are none
std::string rates_file();                                                 // in the cache; "" if there is no cache
// The key distinguishes costs: a small network takes longer for a multiply-add than a large one.
std::string rates_key(const std::string& model, const data::Dataset& data, const scheduler::Workload& workload);

// After a run: keeps what it took for experiments of its model on as much data.
void remember_run(const node::Experiment& experiment, const RunRecord& run, std::vector<journal::FitRecord> records);

// The time that each fit of an experiment may take on a device of one class.
struct Expectation {
  std::vector<double> seconds;  // by fit; in the unit of the model's costs if `measured` is false
  bool measured = false;
  std::string source;  // one sentence: where it is from
};

// From the newest run below `runs` with this plan, or else from `rates`, or else from the model's costs. Times are
// those of `device_class` if it was measured, else of the class that was measured most.
Expectation expect(const search::Plan& plan, const scheduler::Workload& workload, const std::string& runs,
                   const Rates& rates, const std::string& device_class);

}  // namespace mokume::run
