// results.csv, candidates.csv, timeline.csv and summary.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/view.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {
namespace {

using Json = nlohmann::ordered_json;

std::string header(const std::vector<std::string>& names) {
  std::string line;
  for (const auto& name : names) {
    if (!line.empty()) line += ',';
    line += csv_field(name);
  }
  line += '\n';
  return line;
}

std::string params_text(const search::Plan& plan, size_t candidate) {
  std::string text;
  const auto& values = plan.candidates[candidate];
  for (size_t p = 0; p < plan.params.size(); ++p) {
    text += ',';
    if (p < values.size()) text += csv_field(search::to_text(values[p]));
  }
  return text;
}

std::string metric_text(const Metric& metric, double value) {
  constexpr double kExact = 9007199254740992.0;  // integers up to 2^53 are exact in a double
  if (metric.integer && std::abs(value) <= kExact && std::floor(value) == value) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return base::shortest(value);
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_params(const search::Plan& plan, size_t candidate) {
  Json object = Json::object();
  const auto& values = plan.candidates[candidate];
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p) {
    if (const auto* real = std::get_if<double>(&values[p])) {
      object[plan.params[p]] = json_number(*real);
    } else {
      std::visit([&](const auto& value) { object[plan.params[p]] = value; }, values[p]);
    }
  }
  return object;
}

Json json_best(const RunView& view) {
  if (!view.best || *view.best >= view.plan.candidates.size()) return nullptr;
  const Pooled row = pool(view)[*view.best];
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  return {{"candidate", *view.best},
          {"params", json_params(view.plan, *view.best)},
          {"mean", json_number(row.complete ? row.mean : nothing)},
          {"sd", json_number(row.complete ? row.sd : nothing)}};
}

Json json_test(const RunView& view) {
  if (!view.test) return nullptr;
  if (view.test->mse) return {{"n", view.test->n}, {"mse", json_number(*view.test->mse)}};
  const double n = static_cast<double>(view.test->n);
  const double error = view.test->n > 0 ? static_cast<double>(view.test->errors) / n : std::nan("");
  return {{"errors", view.test->errors}, {"n", view.test->n}, {"error", json_number(error)}};
}

Json json_devices(const RunView& view) {
  Json devices = Json::array();
  for (const DeviceUse& use : view.devices) {
    devices.push_back({{"node", use.node},
                       {"id", use.id},
                       {"backend", use.backend},
                       {"name", use.name},
                       {"vendor", use.vendor},
                       {"fits", use.fits},
                       {"busy_s", json_number(use.busy_s)},
                       {"speed", json_number(use.speed)}});
  }
  return devices;
}

}  // namespace

std::string results_csv(const RunView& view) {
  std::vector<std::string> names = {"candidate", "bootstrap", "fold"};
  names.insert(names.end(), view.plan.params.begin(), view.plan.params.end());
  names.push_back("n");
  for (const Metric& metric : view.metrics) names.push_back(metric.name);
  names.push_back("status");
  std::string text = header(names);
  for (const journal::FitRecord* record : by_fit(view.plan, view.records)) {
    if (record == nullptr) continue;
    const search::FitKey key = view.plan.key(record->fit);
    text += fmt::format("{},{},{}{},{}", key.candidate, key.bootstrap, key.fold, params_text(view.plan, key.candidate),
                        record->n);
    const bool failed = record->status == journal::FitStatus::failed;
    for (size_t m = 0; m < view.metrics.size(); ++m) {
      text += ',';
      if (!failed && m < record->values.size()) text += metric_text(view.metrics[m], record->values[m]);
    }
    text += fmt::format(",{}\n", journal::to_text(record->status));
  }
  return text;
}

std::string candidates_csv(const RunView& view) {
  std::vector<std::string> names = {"candidate", "bootstrap"};
  names.insert(names.end(), view.plan.params.begin(), view.plan.params.end());
  for (const char* name : {"mean", "sd", "min", "max", "rank"}) names.emplace_back(name);
  std::string text = header(names);
  for (const CandidateRow& row : summarise(view.plan, view.metrics, view.records)) {
    text += fmt::format("{},{}{}", row.candidate, row.bootstrap, params_text(view.plan, row.candidate));
    for (const double value : {row.mean, row.sd, row.min, row.max}) {
      text += ',';
      if (row.complete) text += base::shortest(value);
    }
    text += fmt::format(",{}\n", row.rank);
  }
  return text;
}

std::string ensemble_csv(const RunView& view) {
  std::vector<std::string> names = {"bootstrap", "candidate"};
  names.insert(names.end(), view.plan.params.begin(), view.plan.params.end());
  const bool classes = view.data_classes > 0;
  for (const Metric& metric : view.metrics)
    if (!metric.integer && view.plan.folds > 0) names.push_back("validation_" + metric.name);
  names.insert(names.end(), {classes ? "test_error" : "test_mse", "status"});
  std::string text = header(names);
  for (const journal::FitRecord& refit : view.refits) {
    const uint32_t bootstrap = refit.fit - view.plan.n_fits();
    text += fmt::format("{},", bootstrap);
    if (refit.refit) text += fmt::format("{}{}", *refit.refit, params_text(view.plan, *refit.refit));
    if (!refit.refit) text += std::string(view.plan.params.size(), ',');
    for (size_t m = 0; m < view.metrics.size(); ++m) {
      if (view.metrics[m].integer || view.plan.folds == 0) continue;
      text += ',';
      if (const auto mean = mean_over_folds(view, refit, m)) text += base::shortest(*mean);
    }
    text += ',';
    if (const auto test = test_of(refit, classes))
      text += base::shortest(test->mse ? *test->mse : static_cast<double>(test->errors) / static_cast<double>(test->n));
    text += fmt::format(",{}\n", journal::to_text(refit.status));
  }
  return text;
}

std::string timeline_csv(const RunView& view) {
  double zero = std::numeric_limits<double>::infinity();
  for (const auto& record : view.records) {
    if (timed(record)) zero = std::min(zero, record.start_s);
  }
  std::string text = "candidate,bootstrap,fold,bundle,node,device,start_s,end_s,attempt\n";
  for (const journal::FitRecord* record : by_fit(view.plan, view.records)) {
    if (record == nullptr) continue;
    const search::FitKey key = view.plan.key(record->fit);
    const std::string when =
        timed(*record) ? fmt::format("{:.6f},{:.6f}", record->start_s - zero, record->end_s - zero) : ",";
    text += fmt::format("{},{},{},{},{},{},{},{}\n", key.candidate, key.bootstrap, key.fold, record->bundle,
                        record->node, csv_field(record->device), when, record->attempt);
  }
  return text;
}

std::string summary_json(const RunView& view) {
  const auto fits = by_fit(view.plan, view.records);
  size_t finished = 0, failed = 0;
  for (const auto* record : fits) {
    if (record == nullptr) continue;
    ++finished;
    if (record->status == journal::FitStatus::failed) ++failed;
  }
  Json summary;
  summary["name"] = view.name;
  summary["model"] = view.model;
  summary["seed"] = view.seed;
  summary["plan_hash"] = view.plan_hash;
  summary["data"] = {{"name", view.data_name},           {"rows", view.data_rows},
                     {"features", view.data_features},   {"classes", view.data_classes},
                     {"test_rows", view.data_test_rows}, {"sha256", view.data_sha256}};
  summary["candidates"] = view.plan.candidates.size();
  summary["folds"] = view.plan.folds;
  summary["bootstraps"] = view.plan.bootstraps;
  if (view.plan.bootstraps > 1) summary["members"] = view.refits.size() - failed_refits(view);
  summary["fits"] = finished;
  summary["fits_planned"] = fits.size();
  summary["failed"] = failed;
  summary["failed_refits"] = failed_refits(view);
  summary["best"] = json_best(view);
  summary["test"] = json_test(view);
  summary["wall_s"] = json_number(view.wall_s);
  summary["fit_s"] = json_number(report::busy_seconds(all_work(view)));
  summary["devices"] = json_devices(view);
  summary["nodes"] = view.nodes;
  summary["efficiency"] = json_number(view.efficiency);
  summary["speeds"] = to_text(view.speeds);
  summary["state"] = view.state;
  // Texts from files may hold bytes that are no UTF-8: replaced, never an exception.
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace mokume::report
