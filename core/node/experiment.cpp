#include "node/experiment.hpp"
#include "data/folds.hpp"
#include "data/load.hpp"

#include <algorithm>

#include "config/plan.hpp"
#include "config/wording.hpp"
#include "sdk/error.hpp"
#include "search/published_draws.hpp"

namespace mokume::node {

Experiment::Experiment(registry::Registry& registry, const config::Config& config)
    : config_(config), model_(registry.load(MK_PLUGIN_MODEL, config.model).model()) {
  check_team();
  data_ = data::load(config.data);
  check_metrics();
  plan_ = config::make_plan(config, data_.sha256, data_.train.rows);
  draw_samples();
  check_columns();
  model_experiment_ = std::make_unique<ModelExperiment>(config_, plan_, data_, samples_, *model_);
  sdk::call(model_->check, model_->self, model_experiment_->get());
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

void Experiment::check_metrics() const {
  const std::vector<report::Metric> known = metrics();
  const bool selects = std::any_of(known.begin(), known.end(), [](const auto& m) { return m.selects; });
  if (!known.empty() && !selects && !config_.select.empty()) {
    std::vector<std::string> names;
    for (const report::Metric& metric : known) names.push_back(metric.name);
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

// Searched parameters and metrics share the columns of results.csv, so their names must differ.
void Experiment::check_columns() const {
  for (const report::Metric& metric : metrics())
    if (std::find(plan_.params.begin(), plan_.params.end(), metric.name) != plan_.params.end())
      throw Error(MK_INVALID_ARGUMENT, "'" + metric.name + "' is a metric of the model '" + config_.model +
                                           "' and a column of results.csv: give the searched parameter another name");
}

std::vector<int32_t> Experiment::assign_rows(uint32_t bootstrap) const {
  if (config_.share > 0)
    return data::assign_share(data_.train, config_.share, config_.stratified, config_.seed, bootstrap);
  if (config_.folds == 0) return std::vector<int32_t>(static_cast<size_t>(data_.train.rows), -1);
  return data::assign_folds(data_.train, config_.folds, config_.shuffle, config_.stratified, config_.seed, bootstrap);
}

void Experiment::draw_samples() {
  if (config_.random_compat == "numpy") {
    for (search::BootstrapDraws& one : search::published_draws(config_.seed_text, plan_.bootstraps, 0, config_.spaces,
                                                               data_.train.rows, config_.folds))
      samples_.push_back({std::move(one.row), std::move(one.fold_of)});
    return;
  }
  for (uint32_t b = 0; b < plan_.bootstraps; ++b)
    samples_.push_back(config_.bootstraps == 0 ? data::whole_sample(assign_rows(b))
                                               : data::draw_sample(assign_rows(b), config_.seed, b));
}

std::vector<scheduler::Bundle> Experiment::bundles(uint32_t parts) const {
  if (plan_.n_fits() == 0) return {};
  struct Collector {
    const Experiment& experiment;
    std::vector<scheduler::Bundle> bundles;
  } collector{*this, {}};
  const mk_bundle_sink sink{
      &collector, [](void* self, const mk_bundle* bundle, mk_error* error) -> int32_t {
        return sdk::guard(error, [&] {
          auto& c = *static_cast<Collector*>(self);
          scheduler::Bundle made{{}, bundle->cost, bundle->bytes, 0};
          for (uint32_t k = 0; k < bundle->n_fits; ++k) {
            const mk_fit& fit = bundle->fits[k];
            const search::Plan& plan = c.experiment.plan_;
            if (!plan.has(fit.candidate, fit.bootstrap) || fit.fold < 0 ||
                static_cast<uint32_t>(fit.fold) >= plan.folds)
              throw Error(MK_INTERNAL, "the model proposed a fit that is not in the plan");
            made.fits.push_back(plan.fit_id(fit.candidate, fit.bootstrap, static_cast<uint32_t>(fit.fold)));
          }
          c.bundles.push_back(std::move(made));
        });
      }};
  sdk::call(model_->bundle, model_->self, model_experiment_->get(), parts, &sink);
  return std::move(collector.bundles);
}

std::vector<report::Metric> metrics_of(const mk_model& model, bool classes, const std::string& select) {
  const mk_metric* all = classes ? model.metrics : model.regression_metrics;
  const uint32_t count = classes ? model.n_metrics : model.n_regression_metrics;
  std::vector<report::Metric> metrics;
  for (uint32_t m = 0; m < count; ++m)
    metrics.push_back({all[m].name, all[m].integer != 0, select.empty() ? all[m].selects != 0 : select == all[m].name});
  return metrics;
}

config::SchemaLookup schema_lookup(registry::Registry& registry) {
  return [&registry](const std::string& model, const std::vector<std::string>&,
                     std::string& why) -> std::optional<config::ModelSchema> {
    try {
      const mk_model* table = registry.load(MK_PLUGIN_MODEL, model).model();
      return config::model_schema({table->params, table->n_params});
    } catch (const Error& e) {
      why = e.what();
      return std::nullopt;
    }
  };
}

}  // namespace mokume::node
