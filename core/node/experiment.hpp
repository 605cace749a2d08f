// Prepares an experiment: loads the model, reads the data, makes folds and plan, and lets the model check the
// experiment. All ranks have the same experiment.
#pragma once

#include <memory>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "config/parse.hpp"
#include "data/dataset.hpp"
#include "data/measures.hpp"
#include "journal/bounds.hpp"
#include "node/fold_experiment.hpp"
#include "node/model_experiment.hpp"
#include "node/splits.hpp"
#include "registry/registry.hpp"
#include "results/view.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// Returns the measures that [validation] score, and [search] select if it is a measure, add to the model's metrics.
std::vector<data::MeasureInfo> measures_of(const mk_model& model, bool classes, const config::Config& config);

// Returns the metrics of a model for data with classes, or with numeric targets, followed by these measures. Returns
// nothing if the model does not support such data. [search] select names the metric that chooses the best candidate; by
// default, the model names it.
std::vector<results::Metric> metrics_of(const mk_model& model, bool classes, const config::Config& config);

// Returns the bounds of a run's records. The numbers of rows are those of its training and test sets.
journal::Bounds bounds_of(const std::vector<results::Metric>& metrics, int64_t rows, int64_t test_rows, int64_t classes,
                          const config::Config& config);

// Returns the outer fold of this run, with fold = 0 for a run that holds out none.
data::OuterFold outer_fold_of(const config::Config& config);

class Experiment {
 public:
  // Throws Error if data cannot be read or the model refuses the experiment. If data.storage is "auto", config() has
  // the chosen one instead.
  Experiment(registry::Registry& registry, const config::Config& config);
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const config::Config& config() const { return config_; }
  const mk_model& model() const { return *model_; }
  const data::Dataset& data() const { return data_; }
  std::vector<results::Metric> metrics() const { return metrics_of(*model_, !data_.class_names.empty(), config_); }
  journal::Bounds bounds() const;
  const std::vector<data::MeasureInfo>& measures() const { return measures_; }
  const search::Plan& plan() const { return plan_; }
  const Splits& splits() const { return *splits_; }
  const mk_experiment* model_experiment() const { return model_experiment_->get(); }

  // Returns the group of a fit or refit. All fits of a group have the same inputs. Those of group 0 are filled and
  // scaled by all training rows, and are in model_experiment().
  uint32_t group_of(uint32_t slot) const;
  // Makes an experiment with the inputs of a group above 0, so that only sessions hold memory for it. Any thread may
  // call it. Throws Error(MK_BAD_DATA) if a scaled value leaves the range of float32.
  std::unique_ptr<FoldExperiment> fold_experiment(uint32_t group) const;

  // Returns bundles that contain every fit of the plan exactly once. A bundle holds fits of one stage and one group
  // only, and both are in order. `parts` is the number of bundles that would suit the devices.
  std::vector<scheduler::Bundle> bundles(uint32_t parts) const;

 private:
  void prepare();
  void prepare_dense(const std::string& why);
  void check_team() const;
  void check_precision() const;
  void check_metrics() const;
  bool measures_these(const data::MeasureInfo& measure) const;  // whether it suits the kind of targets
  void check_measures() const;
  void check_columns() const;
  void note_rare_classes();
  std::vector<scheduler::Bundle> proposed_bundles(uint32_t parts) const;
  double rows_of(const std::vector<uint32_t>& fits) const;  // total size of the samples of these fits

  config::Config config_;
  const mk_model* model_;
  data::Dataset data_;
  ModelFiles files_;
  std::vector<data::MeasureInfo> measures_;
  search::Plan plan_;
  std::unique_ptr<Splits> splits_;
  std::unique_ptr<ModelExperiment> model_experiment_;
};

// Returns a lookup of schemas that loads models from the registry on demand.
config::SchemaLookup schema_lookup(registry::Registry& registry);

}  // namespace mokume::node
