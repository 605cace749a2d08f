#include "results/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "base/sealed.hpp"
#include "base/text.hpp"
#include "results/best.hpp"
#include "results/class_scores.hpp"
#include "results/csv_text.hpp"
#include "results/efficiency.hpp"
#include "results/energy.hpp"
#include "results/format.hpp"
#include "results/nested.hpp"
#include "results/stats.hpp"

namespace mokume::results {
namespace {

using Json = nlohmann::ordered_json;
using journal::FitRecord;
using journal::FitStatus;

std::string metric_text(const Metric& metric, double value) {
  constexpr double kExact = 9007199254740992.0;  // integers up to 2^53 are exact in a double
  return metric.integer && std::abs(value) <= kExact && std::floor(value) == value
             ? std::to_string(static_cast<int64_t>(value))
             : base::shortest(value);
}

Json json_best(const RunView& view) {
  if (!view.best || *view.best >= view.plan.candidates.size()) return nullptr;
  const CandidateRow row = pool(view)[*view.best];
  Json best = {{"candidate", *view.best},
               {"params", params_json(view.plan, *view.best)},
               {"mean", row.complete ? Json(row.mean) : Json()},
               {"sd", row.complete ? Json(row.sd) : Json()}};
  for (const size_t m : other_metrics(view.metrics))
    if (row.each[m]) best["scores"][view.metrics[m].name] = {{"mean", row.each[m]->mean}, {"sd", row.each[m]->sd}};
  return best;
}

Json json_devices(const RunView& view) {
  Json list = Json::array();
  for (const DeviceUse& use : view.devices) {
    list.push_back({{"node", use.node},
                    {"id", use.id},
                    {"backend", use.backend},
                    {"name", use.name},
                    {"vendor", use.vendor},
                    {"fits", use.fits},
                    {"busy_s", use.busy_s},
                    {"speed", use.speed}});
    if (use.energy_j) list.back()["energy_j"] = *use.energy_j;
  }
  return list;
}

Json json_result(const RunView& view, const std::optional<TestResult>& result) {
  if (!result) return nullptr;
  Json test = result->mse ? Json{{"n", result->n}, {"mse", *result->mse}}
                          : Json{{"errors", result->errors}, {"n", result->n}, {"error", result->value()}};
  for (const auto& [name, value] : result->measures) test[name] = value;
  if (result->mse) return test;
  const Interval interval = interval_of(*result);
  test["interval"] = {interval.low, interval.high};
  Json classes = Json::array();
  for (const ClassScore& one : class_scores(view, *result))
    classes.push_back({{"class", one.name},
                       {"rows", one.rows},
                       {"precision", one.precision},
                       {"recall", one.recall},
                       {"f1", one.f1}});
  if (!classes.empty()) test["classes"] = classes;
  if (const auto& confusion = result->confusion) {
    Json& rows = test["confusion"] = Json::array();
    for (size_t truth = 0; truth < confusion->classes; ++truth) {
      rows.push_back(Json::array());
      for (size_t predicted = 0; predicted < confusion->classes; ++predicted)
        rows.back().push_back(confusion->at(truth, predicted));
    }
  }
  return test;
}

Json json_nested(const RunView& view) {
  const NestedEstimate estimate = estimate_of(view);
  Json folds = Json::array();
  for (const NestedFold& one : view.nested->each) {
    folds.push_back({{"fold", one.fold},
                     {"best", one.best},
                     {"validation", one.validation},
                     {one.mse ? "mse" : "error", one.value()},
                     {"n", one.n}});
    for (const auto& [name, value] : one.measures) folds.back()[name] = value;
  }
  Json nested = {{"folds", view.nested->folds}, {"metric", estimate.metric}, {"sd", estimate.sd}};
  nested.update(json_result(view, view.nested->pooled));
  nested["each"] = folds;
  return nested;
}

}  // namespace

std::string results_csv(const RunView& view) {
  Csv csv;
  const bool rungs = view.plan.rungs() > 1;
  csv.add("candidate", "bootstrap", "fold");
  if (rungs) csv.add("rung");
  csv.add_names(view.plan.params);
  csv.add("n");
  for (const Metric& metric : view.metrics) csv.add(metric.name);
  csv.add("status");
  csv.end_row();
  for (const FitRecord* record : recorded(view)) {
    const search::FitKey key = view.plan.key(record->fit);
    csv.add(key.candidate, key.bootstrap, key.fold);
    if (rungs) csv.add(view.plan.rung_of(record->fit));
    csv.add_params(view.plan, key.candidate);
    csv.add(record->n);
    for (size_t m = 0; m < view.metrics.size(); ++m) {
      const bool known = record->status != FitStatus::failed && m < record->values.size();
      csv.add(known ? metric_text(view.metrics[m], record->values[m]) : "");
    }
    csv.add(journal::to_text(record->status));
    csv.end_row();
  }
  return std::move(csv).text();
}

std::string candidates_csv(const RunView& view) {
  Csv csv;
  const bool rungs = view.plan.rungs() > 1;
  csv.add("candidate", "bootstrap");
  csv.add_names(view.plan.params);
  if (rungs) csv.add("rung");
  csv.add_names({"mean", "sd", "min", "max", "rank", "unsure"});
  const std::vector<size_t> others = other_metrics(view.metrics);
  for (const size_t m : others) csv.add("mean_" + view.metrics[m].name);
  csv.end_row();
  for (const CandidateRow& row : summarise(view.plan, view.metrics, view.records)) {
    if (view.plan.trials > 0 && row.missing == view.plan.folds) continue;  // it is no trial
    csv.add(row.candidate, row.bootstrap);
    csv.add_params(view.plan, row.candidate);
    if (rungs) csv.add(row.rung);
    for (const double value : {row.mean, row.sd, row.min, row.max})
      csv.add(row.complete ? std::optional(value) : std::nullopt);
    csv.add(row.rank, row.unsure);
    for (const size_t m : others) csv.add(row.each[m] ? std::optional(row.each[m]->mean) : std::nullopt);
    csv.end_row();
  }
  return std::move(csv).text();
}

std::string ensemble_csv(const RunView& view) {
  const bool classes = view.data_classes > 0;
  std::vector<size_t> metrics;
  for (size_t m = 0; m < view.metrics.size(); ++m)
    if (!view.metrics[m].integer && view.plan.folds > 0) metrics.push_back(m);
  Csv csv;
  csv.add("bootstrap", "candidate");
  csv.add_names(view.plan.params);
  for (const size_t m : metrics) csv.add("validation_" + view.metrics[m].name);
  csv.add(classes ? "test_error" : "test_mse", "status");
  csv.end_row();
  for (const FitRecord& refit : view.refits) {
    csv.add(refit.fit - view.plan.n_fits());
    csv.add(refit.refit ? std::to_string(*refit.refit) : "");
    if (refit.refit)
      csv.add_params(view.plan, *refit.refit);
    else
      csv.add_names(std::vector<std::string>(view.plan.params.size()));
    for (const size_t m : metrics) csv.add(mean_over_folds(view, refit, m));
    const auto test = test_of(refit, view.data_classes);
    csv.add(test ? std::optional(test->value()) : std::nullopt, journal::to_text(refit.status));
    csv.end_row();
  }
  return std::move(csv).text();
}

namespace {

// Adds the epochs of a fit or refit. `names` are the columns; `first` are the fields to the left of the epoch.
void add_epochs(const FitRecord& record, const std::set<std::string>& names, const std::vector<std::string>& first,
                Csv& csv) {
  size_t epochs = 0;
  for (const journal::Curve& curve : record.curves) epochs = std::max(epochs, curve.values.size());
  for (size_t epoch = 0; epoch < epochs; ++epoch) {
    csv.add_names(first);
    csv.add(epoch + 1);
    for (const std::string& name : names) {
      const auto curve = std::find_if(record.curves.begin(), record.curves.end(),
                                      [&](const journal::Curve& one) { return one.name == name; });
      const bool known = curve != record.curves.end() && epoch < curve->values.size();
      csv.add(known ? std::optional(curve->values[epoch]) : std::nullopt);
    }
    csv.end_row();
  }
}

constexpr size_t kMostEpochValues = 250'000;  // about 4 MiB

size_t epoch_values(const FitRecord& record) {
  size_t values = 0;
  for (const journal::Curve& curve : record.curves) values += curve.values.size();
  return values;
}

// Returns the fits of the best candidates that have at most kMostEpochValues values together, in plan order.
std::vector<const FitRecord*> fits_with_epochs(const RunView& view) {
  std::vector<const FitRecord*> fits = recorded(view);
  std::erase_if(fits, [](const FitRecord* fit) { return fit->curves.empty(); });
  size_t values = 0;
  for (const FitRecord* fit : fits) values += epoch_values(*fit);
  if (values <= kMostEpochValues) return fits;
  std::vector<uint32_t> rank(view.plan.n_candidates(), UINT32_MAX);
  for (const CandidateRow& row : pool(view)) rank[row.candidate] = row.rank;
  const auto by_rank = [&](const FitRecord* a, const FitRecord* b) {
    return rank[view.plan.key(a->fit).candidate] < rank[view.plan.key(b->fit).candidate];
  };
  std::stable_sort(fits.begin(), fits.end(), by_rank);
  size_t kept = 0;
  for (values = 0; kept < fits.size() && (values += epoch_values(*fits[kept])) <= kMostEpochValues;) ++kept;
  fits.resize(kept);
  std::sort(fits.begin(), fits.end(), [](const FitRecord* a, const FitRecord* b) { return a->fit < b->fit; });
  return fits;
}

}  // namespace

std::string epochs_csv(const RunView& view) {
  std::set<std::string> names;
  const std::vector<const FitRecord*> fits = fits_with_epochs(view);
  const auto add_names = [&](const FitRecord& record) {
    for (const journal::Curve& curve : record.curves) names.insert(curve.name);
  };
  for (const FitRecord* fit : fits) add_names(*fit);
  for (const FitRecord& refit : view.refits) add_names(refit);
  if (names.empty()) return {};
  Csv csv;
  csv.add("candidate", "bootstrap", "fold", "epoch");
  csv.add_names({names.begin(), names.end()});
  csv.end_row();
  for (const FitRecord* fit : fits) {
    const search::FitKey key = view.plan.key(fit->fit);
    add_epochs(*fit, names, {std::to_string(key.candidate), std::to_string(key.bootstrap), std::to_string(key.fold)},
               csv);
  }
  for (const FitRecord& refit : view.refits)
    add_epochs(
        refit, names,
        {refit.refit ? std::to_string(*refit.refit) : "", std::to_string(refit.fit - view.plan.n_fits()), "refit"},
        csv);
  return std::move(csv).text();
}

namespace {

std::map<const FitRecord*, double> known_energy(const std::vector<FitRecord>& records) {
  std::map<const FitRecord*, double> known;
  const auto energy = energy_by_fit(records);
  for (size_t r = 0; r < records.size(); ++r)
    if (energy[r]) known[&records[r]] = *energy[r];
  return known;
}

}  // namespace

std::string timeline_csv(const RunView& view) {
  const double zero = first_start(view.records);
  Csv csv;
  csv.add_names({"candidate", "bootstrap", "fold", "bundle", "node", "device", "start_s", "end_s", "attempt"});
  const std::map<const FitRecord*, double> energy = known_energy(view.records);
  if (!energy.empty()) csv.add("energy_j");
  csv.end_row();
  for (const FitRecord* record : recorded(view)) {
    const search::FitKey key = view.plan.key(record->fit);
    csv.add(key.candidate, key.bootstrap, key.fold, record->bundle, record->node, record->device);
    for (const double time : {record->start_s, record->end_s})
      csv.add(timed(*record) ? fmt::format("{:.6f}", time - zero) : "");
    csv.add(record->attempt);
    const auto joules = energy.find(record);
    if (!energy.empty()) csv.add(joules != energy.end() ? fmt::format("{:.3f}", joules->second) : "");
    csv.end_row();
  }
  return std::move(csv).text();
}

std::string summary_json(const RunView& view) {
  Json summary = {{"name", view.name},
                  {"model", view.model},
                  {"seed", view.seed},
                  {"plan_hash", view.plan_hash},
                  {"data",
                   {{"name", view.data_name},
                    {"rows", view.data_rows},
                    {"features", view.data_features},
                    {"classes", view.data_classes},
                    {"test_rows", view.data_test_rows},
                    {"sha256", view.data_sha256}}},
                  {"candidates", view.plan.candidates.size()},
                  {"folds", view.plan.folds_in_rung()},
                  {"bootstraps", view.plan.bootstraps}};
  if (view.plan.bootstraps > 1) summary["members"] = view.refits.size() - failed_refits(view);
  summary.update(Json{{"fits", recorded(view).size()},
                      {"fits_planned", view.plan.n_computed()},
                      {"failed", count_fits(view, FitStatus::failed)},
                      {"failed_refits", failed_refits(view)},
                      {"best", json_best(view)},
                      {"test", json_result(view, view.test)},
                      {"wall_s", view.wall_s},
                      {"fit_s", busy_seconds(view)},
                      {"devices", json_devices(view)},
                      {"nodes", view.nodes},
                      {"efficiency", view.efficiency},
                      {"speeds", to_text(view.speeds)},
                      {"state", view.state}});
  if (const Energy energy = energy_of(view); energy.counted > 0)
    summary.update(Json{{"energy_j", energy.joules}, {"fits_with_energy", energy.counted}});
  if (const size_t reused = count_reused(view); reused > 0) summary["reused"] = reused;
  if (view.validated) summary["validated"] = json_result(view, view.validated);
  if (view.plan.trials > 0) summary["trials"] = view.plan.trials;
  if (view.plan.rungs() > 1) summary.update(Json{{"rungs", view.plan.rungs()}, {"dropped", count_dropped(view)}});
  if (view.nested) summary["nested"] = json_nested(view);
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void write_tables(const RunView& view, const std::string& directory) {
  const auto put = [&](const char* name, const std::string& content) {
    base::write_file(base::Below{directory, name}, content);
  };
  put("results.csv", results_csv(view));
  put("candidates.csv", candidates_csv(view));
  if (view.plan.bootstraps > 1) put("ensemble.csv", ensemble_csv(view));
  put("timeline.csv", timeline_csv(view));
  if (const std::string epochs = epochs_csv(view); !epochs.empty()) put("epochs.csv", epochs);
  put("summary.json", base::seal(summary_json(view)));
}

}  // namespace mokume::results
