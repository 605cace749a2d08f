#include "run/fit_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "base/files.hpp"
#include "base/json.hpp"
#include "journal/read.hpp"
#include "run/workload.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

// Older journals contain device names only; run.json maps them to classes.
void name_classes(std::vector<journal::FitRecord>& records, const RunRecord& run) {
  std::map<std::pair<uint32_t, std::string>, std::string> classes;
  for (const DeviceRecord& device : run.devices) classes[{device.node, device.id}] = device.device_class;
  for (journal::FitRecord& record : records)
    if (record.device_class.empty()) record.device_class = classes[{record.node, record.device}];
}

// Fit times of a team do not predict those of a single device.
void leave_out_teams(std::vector<journal::FitRecord>& records) {
  std::erase_if(records, [](const journal::FitRecord& r) { return r.device == journal::kTeamDevice; });
}

struct Earlier {
  std::string directory;
  std::vector<scheduler::TimedWork> work;
};

// Returns the newest run of this plan that has finished a fit. Skips unreadable runs.
Earlier earlier_run(const search::Plan& plan, const std::string& runs) {
  for (const std::string& directory : runs_newest_first(runs)) {
    try {
      const RunRecord run = read_run_record(directory);
      if (run.plan_hash != plan.hash) continue;
      std::vector<journal::FitRecord> records = journal::read_all(directory + "/journal", plan).records;
      leave_out_teams(records);
      name_classes(records, run);
      std::vector<scheduler::TimedWork> work = timed_work(records);
      if (!work.empty()) return {directory, std::move(work)};
    } catch (const std::exception&) {
      continue;
    }
  }
  return {};
}

// Returns the requested class if it was measured, otherwise the class with the most measured time.
std::string class_among(const std::map<std::string, double>& seconds, const std::string& wanted) {
  if (seconds.count(wanted) != 0) return wanted;
  return std::max_element(seconds.begin(), seconds.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Expectation from_run(const Earlier& run, const scheduler::Workload& workload, const std::string& wanted) {
  scheduler::CostModel costs(workload.positions, scheduler::guesses_of(workload), {});
  std::map<std::string, uint32_t> index;
  std::map<std::string, double> seconds;
  size_t fits = 0;
  for (const scheduler::TimedWork& one : run.work) {
    if (index.count(one.device_class) == 0) index[one.device_class] = costs.add_class(0);
    costs.observe(index[one.device_class], one.fits, one.seconds);
    seconds[one.device_class] += one.seconds;
    fits += one.fits.size();
  }
  const std::string on = class_among(seconds, wanted);
  Expectation made;
  for (uint32_t fit = 0; fit < workload.positions.size(); ++fit)
    made.seconds.push_back(costs.work(fit) / costs.speed(index[on]));
  made.measured = true;
  made.source = fmt::format("{} of {} fits as timed in {}, on {}", fits, workload.positions.size(), run.directory,
                            on.empty() ? "its device" : on);
  return made;
}

using AllRates = std::map<std::string, Rates>;

AllRates read_rates(const std::string& file, base::Log& log) {
  std::error_code none;
  if (file.empty() || !std::filesystem::exists(file, none)) return {};
  try {
    return base::from_json<AllRates>(base::read_file(file, 1U << 20));
  } catch (const Error& e) {
    log.warn("run", base::set_aside(file, e.what()));
    return {};
  }
}

}  // namespace

std::vector<scheduler::TimedWork> timed_work(const std::vector<journal::FitRecord>& records) {
  std::map<std::tuple<uint32_t, std::string, uint32_t, uint32_t, double>, scheduler::TimedWork> leases;
  for (const journal::FitRecord& record : records) {
    if (!journal::has_result(record.status)) continue;
    scheduler::TimedWork& lease = leases[{record.node, record.device, record.bundle, record.attempt, record.start_s}];
    lease.device_class = record.device_class;
    lease.fits.push_back(record.fit);
    lease.seconds = std::max(lease.seconds, record.end_s - record.start_s);
  }
  std::vector<scheduler::TimedWork> work;
  for (auto& [key, lease] : leases)
    if (lease.seconds > 0) work.push_back(std::move(lease));
  return work;
}

void remember_rates(const std::string& file, const std::string& key, const scheduler::Workload& workload,
                    const std::vector<scheduler::TimedWork>& work, base::Log& log) {
  if (file.empty()) return;
  const std::vector<double> guesses = scheduler::guesses_of(workload);
  std::map<std::string, std::pair<double, double>> sums;  // seconds and cost by device class
  for (const scheduler::TimedWork& one : work) {
    auto& [seconds, cost] = sums[one.device_class];
    seconds += one.seconds;
    for (const uint32_t fit : one.fits) cost += guesses.at(fit);
  }
  AllRates all = read_rates(file, log);
  for (const auto& [device_class, sum] : sums)
    if (!device_class.empty() && sum.first > 0 && sum.second > 0) all[key][device_class] = sum.first / sum.second;
  try {
    base::write_file(file, base::indented(base::to_json(all)));
  } catch (const std::exception&) {  // the cache may be read-only or full
  }
}

Rates remembered_rates(const std::string& file, const std::string& key, base::Log& log) {
  Rates rates = read_rates(file, log)[key];
  std::erase_if(rates, [](const auto& rate) { return !(rate.second > 0); });
  return rates;
}

std::string rates_file() {
  const std::string cache = base::cache_directory();
  return cache.empty() ? "" : cache + "/fit-rates.json";
}

std::string rates_key(const std::string& model, const data::Dataset& data, const scheduler::Workload& workload) {
  double sum = 0;
  const std::vector<double> guesses = scheduler::guesses_of(workload);
  for (const double cost : guesses) sum += cost;
  const double mean = guesses.empty() ? 0 : sum / static_cast<double>(guesses.size());
  return fmt::format("{}, {} rows x {}, cost 1e{}", model, data.train.rows, data.train.features,
                     std::isfinite(mean) && mean > 0 ? std::lround(std::log10(mean)) : 0);
}

void remember_run(const node::Experiment& experiment, const RunRecord& run, std::vector<journal::FitRecord> records,
                  base::Log& log) {
  leave_out_teams(records);
  name_classes(records, run);
  // The time of a fit on few rows tells little about one on all rows.
  const search::Plan& plan = experiment.plan();
  std::erase_if(records, [&](const auto& one) { return plan.rung_of(one.fit) + 1 < plan.rungs(); });
  const scheduler::Workload workload = workload_of(experiment, kSeveralDevices);
  remember_rates(rates_file(), rates_key(experiment.config().model, experiment.data(), workload), workload,
                 timed_work(records), log);
}

Expectation expect(const search::Plan& plan, const scheduler::Workload& workload, const std::string& runs,
                   const Rates& rates, const std::string& device_class) {
  const Earlier run = earlier_run(plan, runs);
  if (!run.work.empty()) return from_run(run, workload, device_class);
  // Before anything is observed, this returns the guesses, with replacements for invalid guesses.
  const scheduler::CostModel costs(workload.positions, scheduler::guesses_of(workload), {});
  double rate = 1;
  Expectation made;
  if (rates.empty()) {
    made.source = "the model's costs: nothing similar has run here, so times are unknown";
  } else {
    const std::string on = rates.count(device_class) != 0 ? device_class : rates.begin()->first;
    rate = rates.at(on);
    made.measured = true;
    made.source = "the model's costs, at the speed of earlier runs on " + on;
  }
  for (uint32_t fit = 0; fit < workload.positions.size(); ++fit) made.seconds.push_back(rate * costs.work(fit));
  return made;
}

}  // namespace mokume::run
