// Holds the experiment of a fold that fills and scales its inputs by its own training rows, in the form for a model.
#pragma once

#include "abi/model.h"
#include "data/fold_inputs.hpp"

namespace mokume::node {

// The class is not movable, because the C structs point into the object. `whole` must outlive it.
class FoldExperiment {
 public:
  FoldExperiment(const mk_experiment& whole, data::FoldInputs inputs);
  FoldExperiment(const FoldExperiment&) = delete;
  FoldExperiment& operator=(const FoldExperiment&) = delete;

  const mk_experiment* get() const { return &experiment_; }

 private:
  data::FoldInputs inputs_;
  mk_data train_;
  mk_experiment experiment_;
};

}  // namespace mokume::node
