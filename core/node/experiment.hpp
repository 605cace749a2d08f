// An experiment made ready: model loaded and asked, data read, folds and plan made. The same on every rank.
#pragma once

#include <memory>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "config/parse.hpp"
#include "data/dataset.hpp"
#include "data/samples.hpp"
#include "node/model_experiment.hpp"
#include "registry/registry.hpp"
#include "report/view.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// The metrics of a model for data with classes, or with numbers as targets; none if it does not do that. `select`: the
// one that chooses the best candidate; "": the model's own choice.
std::vector<report::Metric> metrics_of(const mk_model& model, bool classes, const std::string& select);

class Experiment {
 public:
  // Throws Error for data that cannot be read, and for what the model refuses.
  Experiment(registry::Registry& registry, const config::Config& config);
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const config::Config& config() const { return config_; }
  const mk_model& model() const { return *model_; }
  const data::Dataset& data() const { return data_; }
  std::vector<report::Metric> metrics() const {
    return metrics_of(*model_, !data_.class_names.empty(), config_.select);
  }
  const search::Plan& plan() const { return plan_; }
  const mk_experiment* model_experiment() const { return model_experiment_->get(); }

  // Every fit of the plan in exactly one bundle; `parts`: how many bundles the devices would like.
  std::vector<scheduler::Bundle> bundles(uint32_t parts) const;

 private:
  void check_team() const;
  void check_metrics() const;
  void check_columns() const;
  std::vector<int32_t> assign_rows(uint32_t bootstrap) const;
  void draw_samples();

  config::Config config_;
  const mk_model* model_;
  data::Dataset data_;
  std::vector<data::Sample> samples_;  // by bootstrap
  search::Plan plan_;
  std::unique_ptr<ModelExperiment> model_experiment_;
};

// A SchemaLookup over the registry; loads what it is asked for.
config::SchemaLookup schema_lookup(registry::Registry& registry);

}  // namespace mokume::node
