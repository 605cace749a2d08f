// Converts an experiment into the form for a model plugin.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "abi/model.h"
#include "config/config.hpp"
#include "data/dataset.hpp"
#include "node/model_files.hpp"
#include "node/splits.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// The class is not movable, because the C struct points into the object. All arguments must outlive it.
class ModelExperiment {
 public:
  ModelExperiment(const config::Config& config, const search::Plan& plan, const data::Dataset& data,
                  const Splits& splits, const mk_model& model, const ModelFiles& files = {});
  ModelExperiment(const ModelExperiment&) = delete;
  ModelExperiment& operator=(const ModelExperiment&) = delete;

  const mk_experiment* get() const { return &experiment_; }

 private:
  mk_value value_of(const mk_param& param, const config::Config& config, const search::Plan& plan,
                    const std::vector<search::Value>& candidate);
  const char* keep(std::string text);

  std::set<std::string> texts_;  // a set, because texts without references are the same for every candidate
  std::vector<mk_value> values_;
  std::vector<const char*> class_names_;
  mk_data train_{}, test_{};
  std::vector<mk_sample> samples_;
  std::vector<mk_file> files_;
  mk_experiment experiment_{};
};

}  // namespace mokume::node
