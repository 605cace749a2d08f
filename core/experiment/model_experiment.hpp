// An experiment in the form that crosses to a model plugin, with everything it points to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"
#include "experiment/config.hpp"
#include "search/plan.hpp"

namespace mokume::experiment {

// Not movable: the C struct points into it. config, plan and data must outlive it.
class ModelExperiment {
 public:
  ModelExperiment(const Config& config, const search::Plan& plan, const data::Dataset& data,
                  const std::vector<int32_t>& fold_of, const mk_model& model);
  ModelExperiment(const ModelExperiment&) = delete;
  ModelExperiment& operator=(const ModelExperiment&) = delete;

  const mk_experiment* get() const { return &experiment_; }

 private:
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<mk_value> values_;
  std::vector<const char*> class_names_;
  mk_data train_{};
  mk_experiment experiment_{};
};

}  // namespace mokume::experiment
