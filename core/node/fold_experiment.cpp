#include "node/fold_experiment.hpp"

#include <utility>

namespace mokume::node {

FoldExperiment::FoldExperiment(const mk_experiment& whole, data::FoldInputs inputs)
    : inputs_(std::move(inputs)), train_(*whole.train), experiment_(whole) {
  train_.x = inputs_.table.x.data();
  experiment_.train = &train_;
  experiment_.test = nullptr;
  experiment_.scaling_mean = inputs_.mean.data();
  experiment_.scaling_scale = inputs_.scale.data();
  experiment_.n_scaling = static_cast<uint32_t>(inputs_.mean.size());
}

}  // namespace mokume::node
