// The parameters of the model: their schema and the values of one candidate. Names and defaults are PyTorch's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "sdk/ops/augment.hpp"
#include "sdk/ops/optimizer_step.hpp"
#include "train/loss.hpp"
#include "train/muon.hpp"
#include "train/schedule.hpp"

namespace mokume::cnn {

struct StopRule {
  enum class Kind { none, ratio, plateau } kind = Kind::none;
  double ratio = 0.8;  // ratio: stop if the training loss exceeds this share of the last one
  int64_t patience = 5;
  double min_delta = 0;          // plateau: stop after `patience` epochs without this gain
  bool restore_best = false;     // plateau: the result has the weights after the best epoch
  std::string monitor = "auto";  // plateau: the curve by which epochs are compared

  // Whether epochs are compared by a curve that a refit does not have.
  bool needs_validation() const { return kind == Kind::plateau && !monitor.starts_with("train"); }
};

// How the devices of a team train one network.
struct Parallel {
  // none: one device alone. synchronous: the batch of each step is cut into shards, whose gradients are summed.
  // local_sgd: each device has its own batches, and weights and states are averaged periodically.
  enum class Kind { none, synchronous, local_sgd } kind = Kind::none;
  bool adapt = true;  // adjust the shares to the measured speeds of the devices
  // synchronous
  int64_t shards = 8;  // a power of two; affects results, unlike the assignment of shards
  std::string batch_scope = "global";
  bool scale_lr = false;  // per_device: multiply the learning rate by the number of devices
  // local_sgd
  int64_t period = 16;        // batches per device between two averages
  int64_t warmup_epochs = 0;  // epochs in which every batch is averaged
  int64_t growth = 1;         // above 1: the period grows by this factor every epoch, up to `period`

  bool per_device() const { return batch_scope == "per_device"; }  // batch_size counts per device
  int64_t period_of(int64_t epoch) const;
};

struct Settings {
  std::string layers;  // JSON with every key: defines the network and is kept in saved models
  std::string start;   // a safetensors file (saved/start.hpp); "": random values
  std::string freeze;  // names of layers, joined by commas (network/freeze.hpp)
  Loss loss = Loss::cross_entropy;
  LossForm loss_form;
  std::string class_weight;  // see sdk/class_weights.hpp
  bool weighted = false;     // by class_weight or by the data
  double mixup_alpha = 0;    // of the distribution of the shares; 0: rows are not mixed
  double ema_decay = 0;      // of the average of the weights; 0: there is none
  int64_t epochs = 1;        // 0: the model is its start
  int64_t batch_size = 64;
  int64_t accumulate = 1;  // batches whose gradients are averaged for one step
  bool shuffle = true, drop_last = false, standardise_target = false;
  ops::OptimizerSettings optimizer;  // with Muon: of the parameters that it leaves to AdamW
  Muon muon;
  Schedule schedule;
  StopRule stop;
  bool refit_validated = false;  // if the rule needs validation: a refit has as many epochs as that chose
  int64_t stop_after = 0;        // epochs of a refit that ends before the schedule does; 0: all
  Parallel parallel;
  ops::Augment augment;  // without the sides of the images

  int64_t last_epoch() const { return stop_after > 0 ? std::min(stop_after, epochs) : epochs; }
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics;  // of classifiers
extern const std::vector<mk_metric> kRegressionMetrics;

// The values that the keys of an optimizer set.
struct OptimizerForm : ops::OptimizerSettings {
  double muon_lr = 0, muon_weight_decay = 0, momentum = 0;
  bool muon_nesterov = false;
  int64_t ns_steps = 0;
  std::string adjust_lr_fn;

  Muon muon() const { return {muon_lr, muon_weight_decay, momentum, muon_nesterov, ns_steps, adjust_lr_fn}; }
};
const Forms<OptimizerForm>& optimizers();

// values[p] is in the order of kParams. `classifies` determines the meaning of loss = "auto". Throws
// Error(MK_INVALID_ARGUMENT).
Settings settings_of(const mk_value* values, bool classifies);

}  // namespace mokume::cnn
