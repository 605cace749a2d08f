#include "node/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/plural.hpp"
#include "config/diagnostics.hpp"
#include "config/plan.hpp"
#include "data/input.hpp"
#include "data/load.hpp"
#include "sdk/error.hpp"

namespace mokume::node {

data::OuterFold outer_fold_of(const config::Config& config) {
  return {config.outer_fold, config.outer, config.shuffle || config.share > 0, config.stratified, config.seed};
}

Experiment::Experiment(registry::Registry& registry, const config::Config& config)
    : config_(config), model_(registry.load(MK_PLUGIN_MODEL, config.model).model()) {
  check_team();
  check_precision();
  if (config.data.keeps_sparse() && model_->predict_sparse == nullptr)
    throw Error(MK_INVALID_ARGUMENT, "data.storage is 'sparse', but the model '" + config.model +
                                         "' takes dense rows only: remove it, or set it to dense");
  if (config.data.chooses_storage() && model_->predict_sparse == nullptr) {
    prepare_dense("the model '" + config.model + "' takes no sparse rows");
    return;
  }
  try {
    prepare();
  } catch (const Error& e) {
    if (e.status() != MK_UNSUPPORTED || !data_.train.sparse()) throw;
    const std::string why = e.what();
    if (!config.data.chooses_storage()) throw Error(MK_INVALID_ARGUMENT, why, e.thrown_at());
    prepare_dense(why.substr(0, why.find(": ")));  // the cure follows the colon
  }
}

void Experiment::prepare_dense(const std::string& why) {
  config_.data.storage = "dense";
  prepare();
  data_.storage_note = "data.storage is 'auto': the rows become dense, because " + why;
}

void Experiment::prepare() {
  data::DataSpec spec = config_.data;
  spec.outer = outer_fold_of(config_);
  data_ = {};  // frees the memory of an earlier call
  data_ = data::load(spec);
  if (spec.chooses_storage()) config_.data.storage = data_.train.sparse() ? "sparse" : "dense";
  check_metrics();
  check_measures();
  if (!data_.train.weights.empty() && model_->weighs == 0)
    throw Error(MK_INVALID_ARGUMENT, "data.weight is '" + config_.data.weight + "', but the model '" + config_.model +
                                         "' does not weigh rows: remove it");
  measures_ = measures_of(*model_, !data_.class_names.empty(), config_);
  files_ = read_model_files(*model_, config_);
  config_.file_sums = sums_of(files_);
  plan_ = config::make_plan(config_, data_.sha256, data_.train.rows);
  splits_ = std::make_unique<Splits>(config_, plan_, data_);
  check_columns();
  note_rare_classes();
  model_experiment_ = std::make_unique<ModelExperiment>(config_, plan_, data_, *splits_, *model_, files_);
  sdk::call(model_->check, model_->self, model_experiment_->get());
}

// Names classes that some folds cannot validate, and classes that no model can learn.
void Experiment::note_rare_classes() {
  std::vector<uint32_t> rows(data_.class_names.size());
  std::vector<double> weights(rows.size());
  for (size_t r = 0; r < data_.train.labels.size(); ++r) {
    const auto label = static_cast<size_t>(data_.train.labels[r]);
    ++rows[label];
    weights[label] += data_.train.weights.empty() ? 1 : double{data_.train.weights[r]};
  }
  for (size_t c = 0; c < rows.size(); ++c) {
    const std::string name = "the class " + data::quoted(data_.class_names[c]);
    if (config_.share == 0 && rows[c] > 0 && rows[c] < splits_->folds())
      data_.notes.push_back(
          fmt::format("{} has {} for {} folds, so some folds do not validate it; take fewer folds, or "
                      "leave the class out",
                      name, base::counted(rows[c], "row"), splits_->folds()));
    if (rows[c] > 0 && weights[c] == 0)
      data_.notes.push_back(name +
                            " has only rows of weight 0, so no model learns it; give it a weight, or leave it out");
  }
}

void Experiment::check_team() const {
  if (!config_.team && !config_.repeat_splits.empty())
    throw Error(MK_INVALID_ARGUMENT,
                "devices.repeat_splits applies only to a team: set devices.team to true, or remove it");
  if (!config_.team) return;
  if (model_->teams == 0)
    throw Error(MK_INVALID_ARGUMENT, "devices.team is true, but several devices cannot train one model '" +
                                         config_.model + "': set it to false, so that each device takes separate fits");
}

void Experiment::check_precision() const {
  if (config_.precision != "fp32" && model_->rounds == 0)
    throw Error(MK_INVALID_ARGUMENT, "devices.precision is '" + config_.precision + "', but the model '" +
                                         config_.model + "' needs exact operands: set it to fp32, or remove it");
  if (config_.precision != "fp32" && config_.numerics == "strict")
    throw Error(MK_INVALID_ARGUMENT, "devices.precision is '" + config_.precision +
                                         "', but strict numerics define sums of fp32 operands only: set "
                                         "devices.precision to fp32, or devices.numerics to fast");
}

void Experiment::check_metrics() const {
  const std::vector<results::Metric> known = metrics();
  const bool selects = std::any_of(known.begin(), known.end(), [](const auto& m) { return m.selects; });
  if (!known.empty() && !selects && !config_.select.empty()) {
    std::vector<std::string> names;
    for (const results::Metric& metric : known) names.push_back(metric.name);
    for (const data::MeasureInfo& measure : data::all_measures())
      if (model_->validated != MK_VALIDATED_NOTHING && measures_these(measure)) names.emplace_back(measure.name);
    throw Error(MK_INVALID_ARGUMENT, "search.select is '" + config_.select + "', but the metrics of the model '" +
                                         config_.model + "' here are: " + config::join(names));
  }
  if (!known.empty()) return;
  const std::string model = "the model '" + config_.model + "' ";
  throw Error(MK_BAD_DATA, data_.class_names.empty()
                               ? model + "does not predict numbers, and the targets of '" + data_.name +
                                     "' are not classes: choose another model, or a target with whole numbers or words"
                               : model + "does not classify, and the targets of '" + data_.name +
                                     "' are classes: choose another model or target");
}

bool Experiment::measures_these(const data::MeasureInfo& measure) const {
  return (measure.needs == data::Needs::numbers) == data_.class_names.empty();
}

void Experiment::check_measures() const {
  const auto refuse = [&](const std::string& name, const std::string& why) {
    throw Error(MK_INVALID_ARGUMENT,
                (name == config_.select ? "search.select is '" : "validation.score has '") + name + "', but " + why);
  };
  if (config_.calibrate) {
    const std::string because = "validation.calibrate is true, but ";
    if (data_.class_names.empty())
      throw Error(MK_INVALID_ARGUMENT, because + "the targets of '" + data_.name + "' are numbers: remove it");
    if (model_->validated != MK_VALIDATED_SCORES || model_->calibrate == nullptr)
      throw Error(MK_INVALID_ARGUMENT, because + "the model '" + config_.model +
                                           (model_->validated == MK_VALIDATED_PROBABILITIES
                                                ? "' gives probabilities of its own: remove it"
                                                : "' gives no decision values that it can calibrate: remove it"));
    if (config_.folds == 0)
      throw Error(MK_INVALID_ARGUMENT, because + "there is no validation (validation.folds = 0): remove one of them");
  }
  for (const std::string& name : config_.score)
    if (!measures_these(*data::find_measure(name)))
      refuse(name, data_.class_names.empty()
                       ? "it measures classes, and the targets of '" + data_.name + "' are numbers: remove it"
                       : "it measures numbers, and the targets of '" + data_.name + "' are classes: remove it");
  for (const data::MeasureInfo& one : measures_of(*model_, !data_.class_names.empty(), config_)) {
    if (model_->validated == MK_VALIDATED_NOTHING)
      refuse(one.name, "the model '" + config_.model + "' reports only its own metrics: remove it");
    if (one.needs == data::Needs::scores && model_->validated < MK_VALIDATED_SCORES)
      refuse(one.name, "the model '" + config_.model + "' gives its rows no scores: take f1 or balanced_error");
    if (one.needs == data::Needs::probabilities && model_->validated < MK_VALIDATED_PROBABILITIES)
      refuse(one.name, "it needs probabilities, which the model '" + config_.model + "' does not have: take auc or f1");
    if (config_.folds == 0) refuse(one.name, "there is no validation (validation.folds = 0): remove it");
  }
}

// Searched parameters and metrics share the columns of results.csv, so their names must differ.
void Experiment::check_columns() const {
  for (const results::Metric& metric : metrics())
    if (std::find(plan_.params.begin(), plan_.params.end(), metric.name) != plan_.params.end())
      throw Error(MK_INVALID_ARGUMENT, "'" + metric.name + "' is a metric of the model '" + config_.model +
                                           "' and a column of results.csv: give the searched parameter another name");
}

uint32_t Experiment::group_of(uint32_t slot) const {
  if (plan_.is_refit(slot) || !config_.scales_folds()) return 0;
  const search::FitKey key = plan_.key(slot);
  return 1 + key.bootstrap * plan_.folds + key.fold;
}

std::unique_ptr<FoldExperiment> Experiment::fold_experiment(uint32_t group) const {
  const Splits::Fold fold{(group - 1) / plan_.folds, (group - 1) % plan_.folds};
  return std::make_unique<FoldExperiment>(
      *model_experiment(), data::fold_inputs(data_, config_.data.standardize, splits_->training_rows(fold)));
}

std::vector<scheduler::Bundle> Experiment::bundles(uint32_t parts) const {
  std::vector<scheduler::Bundle> proposed = proposed_bundles(parts);
  if (!config_.scales_folds() && !plan_.decides()) return proposed;
  const auto all_rows = static_cast<double>(splits_->samples().back().row.size());
  std::map<std::pair<uint32_t, uint32_t>, std::vector<scheduler::Bundle>> by_group;  // by stage and group
  for (const scheduler::Bundle& whole : proposed) {
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> pieces;
    for (const uint32_t fit : whole.fits) pieces[{plan_.stage_of(fit), group_of(fit)}].push_back(fit);
    for (auto& [group, fits] : pieces) {
      // Models state the cost of fits on all rows.
      const double share = rows_of(fits) / (static_cast<double>(whole.fits.size()) * all_rows);
      by_group[group].push_back({std::move(fits), whole.cost * share, whole.bytes, 0});
    }
  }
  std::vector<scheduler::Bundle> split;
  for (auto& [group, some] : by_group) std::move(some.begin(), some.end(), std::back_inserter(split));
  return split;
}

double Experiment::rows_of(const std::vector<uint32_t>& fits) const {
  double rows = 0;
  for (const uint32_t fit : fits) {
    const search::FitKey key = plan_.key(fit);
    rows += static_cast<double>(splits_->samples()[splits_->place_of({key.bootstrap, key.fold}).sample].row.size());
  }
  return rows;
}

std::vector<scheduler::Bundle> Experiment::proposed_bundles(uint32_t parts) const {
  if (plan_.n_fits() == 0) return {};
  struct Collector {
    const Experiment& experiment;
    std::vector<scheduler::Bundle> bundles;
  } collector{*this, {}};
  const mk_bundle_sink sink{&collector, [](void* self, const mk_bundle* bundle, mk_error* error) -> int32_t {
                              return sdk::guard(error, [&] {
                                auto& c = *static_cast<Collector*>(self);
                                const search::Plan& plan = c.experiment.plan_;
                                scheduler::Bundle made{{}, bundle->cost, bundle->bytes, 0};
                                for (uint32_t k = 0; k < bundle->n_fits; ++k) {
                                  const mk_fit& fit = bundle->fits[k];
                                  const auto fold = c.experiment.splits_->fold_at({fit.bootstrap, fit.fold});
                                  if (!fold && fit.bootstrap < c.experiment.splits_->samples().size()) continue;
                                  if (!fold || !plan.has(fit.candidate, fold->bootstrap))
                                    throw Error(MK_INTERNAL, "the model proposed a fit that is not in the plan");
                                  made.fits.push_back(plan.fit_id(fit.candidate, fold->bootstrap, fold->fold));
                                }
                                if (made.fits.empty()) return;
                                made.cost *= static_cast<double>(made.fits.size()) / bundle->n_fits;
                                c.bundles.push_back(std::move(made));
                              });
                            }};
  sdk::call(model_->bundle, model_->self, model_experiment_->get(), parts, &sink);
  return std::move(collector.bundles);
}

std::vector<data::MeasureInfo> measures_of(const mk_model& model, bool classes, const config::Config& config) {
  std::vector<data::MeasureInfo> found;
  const mk_metric* const metrics = classes ? model.metrics : model.regression_metrics;
  const uint32_t count = classes ? model.n_metrics : model.n_regression_metrics;
  const auto of_model = [&](const std::string& name) {
    return std::any_of(metrics, metrics + count, [&](const auto& m) { return name == m.name; });
  };
  for (const data::MeasureInfo& one : data::all_measures()) {
    if ((one.needs == data::Needs::numbers) == classes) continue;
    const bool scored = std::find(config.score.begin(), config.score.end(), one.name) != config.score.end();
    if ((scored || config.select == one.name) && !of_model(one.name)) found.push_back(one);
  }
  return found;
}

std::vector<results::Metric> metrics_of(const mk_model& model, bool classes, const config::Config& config) {
  const mk_metric* all = classes ? model.metrics : model.regression_metrics;
  const uint32_t count = classes ? model.n_metrics : model.n_regression_metrics;
  std::vector<results::Metric> metrics;
  for (uint32_t m = 0; m < count; ++m) metrics.push_back({all[m].name, all[m].integer != 0, all[m].selects != 0});
  for (const data::MeasureInfo& one : measures_of(model, classes, config))
    metrics.push_back({one.name, false, false, one.larger_is_better});
  if (!config.select.empty())
    for (results::Metric& metric : metrics) metric.selects = metric.name == config.select;
  return metrics;
}

journal::Bounds bounds_of(const std::vector<results::Metric>& metrics, int64_t rows, int64_t test_rows, int64_t classes,
                          const config::Config& config) {
  std::vector<journal::Bounds::Metric> bounded;
  for (const results::Metric& metric : metrics) bounded.push_back({metric.name, metric.integer});
  return {.rows = rows,
          .test_rows = test_rows,
          .classes = classes,
          .metrics = std::move(bounded),
          .strict = config.numerics == "strict"};
}

journal::Bounds Experiment::bounds() const {
  return bounds_of(metrics(), data_.train.rows, data_.test.rows, static_cast<int64_t>(data_.class_names.size()),
                   config_);
}

config::SchemaLookup schema_lookup(registry::Registry& registry) {
  return [&registry](const std::string& model, const std::vector<std::string>&,
                     std::string& why) -> std::optional<config::ModelSchema> {
    try {
      return config::model_schema(*registry.load(MK_PLUGIN_MODEL, model).model());
    } catch (const Error& e) {
      if (e.status() == MK_CANCELLED) throw;
      why = e.what();
      return std::nullopt;
    }
  };
}

}  // namespace mokume::node
