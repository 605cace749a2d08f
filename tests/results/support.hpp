// Builds small runs whose results are known.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "results/view.hpp"
#include "support/expect.hpp"

namespace mokume::results::testing {

inline journal::FitRecord record(uint32_t fit, double errors, double n = 10) {
  journal::FitRecord r;
  r.fit = fit;
  r.n = static_cast<int64_t>(n);
  r.values = {errors, errors / n};
  r.device = "opencl:0";
  r.bundle = fit / 2;
  r.start_s = 1000.5 + r.bundle;
  r.end_s = 1001.25 + r.bundle;
  return r;
}

// Adds two folds of every candidate. The errors repeat after seven fits.
inline void fill(RunView& view) {
  view.records.clear();
  for (uint32_t f = 0; f < view.plan.n_fits(); ++f) view.records.push_back(record(f, f % 7 + 1));
}

// Adds the refit of `bootstrap`, which trains `candidate`. `result` is its only value, measured on 50 test rows.
inline journal::FitRecord& add_refit(RunView& view, uint32_t bootstrap, uint32_t candidate, double result = 5) {
  journal::FitRecord& refit = view.refits.emplace_back(record(view.plan.refit_slot(bootstrap), result, 50));
  refit.values = {result};
  refit.refit = candidate;
  return refit;
}

inline std::vector<Metric> error_metrics() { return {{"errors", true, false}, {"error", false, true}}; }

// Returns a finished run over C x gamma, with two folds of ten rows. `best` is always the last candidate.
inline RunView grid(size_t nc = 3, size_t ng = 2) {
  RunView view;
  view.name = "tiny";
  view.model = "svc";
  view.seed = "7";
  view.plan_hash = "abc";
  view.data_name = "digits";
  view.data_sha256 = "def";
  view.data_rows = 20, view.data_features = 4, view.data_classes = 3, view.data_test_rows = 50;
  view.plan.params = {"C", "gamma"};
  view.plan.folds = 2;
  view.metrics = error_metrics();
  for (size_t i = 0; i < nc; ++i) {
    for (size_t j = 0; j < ng; ++j) {
      const auto c = static_cast<uint32_t>(view.plan.candidates.size());
      view.plan.candidates.push_back({std::pow(10.0, static_cast<double>(i)), 0.001 * static_cast<double>(j + 1)});
      for (uint32_t f = 0; f < 2; ++f) view.records.push_back(record(2 * c + f, static_cast<double>((9 - c % 9) + f)));
    }
  }
  view.best = static_cast<uint32_t>(view.plan.candidates.size() - 1);
  view.test = TestResult{5, 50};
  view.wall_s = 12.5;
  view.devices = {{0, "opencl:0", "opencl", "Card", "Maker", view.records.size(), 4.5, 1.25}};
  view.efficiency = 0.75;
  view.speeds = Speeds::measured;
  view.state = "done";
  view.config_toml = "name = \"tiny\"\n";
  view.environment = "host: somewhere\n";
  view.reproduce = "mokume run tiny.toml";
  return view;
}

inline size_t occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace mokume::results::testing
