// The parameters of the model: their schema, and one candidate's values. Names and defaults are PyTorch's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "loss.hpp"
#include "schedule.hpp"
#include "sdk/ops/optimizer_step.hpp"

namespace mokume::cnn {

struct StopRule {
  enum class Kind { none, ratio, plateau } kind = Kind::none;
  double ratio = 0.8;  // ratio: an epoch's training loss exceeds this share of the one before
  int64_t patience = 5;
  double min_delta = 0;  // plateau: no better by this for `patience` epochs
};

// How the devices of a team train one network.
struct Parallel {
  // none: one device alone. synchronous: each step's batch is cut into shards, whose gradients are summed. local_sgd:
  // each device has batches of its own, and weights and states are averaged now and then.
  enum class Kind { none, synchronous, local_sgd } kind = Kind::none;
  bool adapt = true;  // shares follow the speeds that devices show
  // synchronous
  int64_t shards = 8;  // a power of two; results depend on it, and not on who computes which shard
  std::string batch_scope = "global";
  bool scale_lr = false;  // with a batch for each device: the learning rate times the number of devices
  // local_sgd
  int64_t period = 16;        // batches of each device between two averages
  int64_t warmup_epochs = 0;  // in which every batch is averaged
  int64_t growth = 1;         // above 1: then the period grows by this factor every epoch, up to `period`

  bool per_device() const { return batch_scope == "per_device"; }  // batch_size is that of each device, not of all
  int64_t period_of(int64_t epoch) const;
};

struct Settings {
  std::string layers;  // JSON, with every key: what a network is made from, and what saved models keep
  Loss loss = Loss::cross_entropy;
  int64_t epochs = 1, batch_size = 64;
  bool shuffle = true, drop_last = false, standardise_target = false;
  ops::OptimizerSettings optimizer;
  Schedule schedule;
  StopRule stop;
  Parallel parallel;
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics;  // of classifiers
extern const std::vector<mk_metric> kRegressionMetrics;

const Forms<ops::OptimizerSettings>& optimizers();

// values[p] in the order of kParams; `classifies`: what loss = "auto" depends on. Error(MK_INVALID_ARGUMENT).
Settings settings_of(const mk_value* values, bool classifies);

}  // namespace mokume::cnn
