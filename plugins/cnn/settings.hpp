// Defines the parameters of the model: their schema and the values of one candidate. Names and defaults follow PyTorch.
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
  double ratio = 0.8;  // `ratio` stops if the training loss exceeds this share of the previous loss
  int64_t patience = 5;
  double min_delta = 0;          // for `plateau`; an improvement within `patience` epochs must exceed this value
  bool restore_best = false;     // for `plateau`; whether to return the weights of the best epoch
  std::string monitor = "auto";  // for `plateau`; the curve that compares epochs
  bool per_epoch = false;        // for `plateau`; whether a single epoch must exceed `min_delta`

  // Returns whether the rule uses a curve that a refit does not have.
  bool needs_validation() const { return kind == Kind::plateau && !monitor.starts_with("train"); }
};

// Describes how the devices of a team train one network.
struct Parallel {
  // With `none`, each network trains on one device. With `synchronous`, the devices divide each batch into shards, and
  // sum their gradients. With `local_sgd`, they take different batches, and average weights and states periodically.
  enum class Kind { none, synchronous, local_sgd } kind = Kind::none;
  bool adapt = true;  // whether to adjust the shares to the measured speeds of the devices
  // Only `synchronous` uses the following three members.
  int64_t shards = 8;  // a power of two; affects results, unlike the assignment of shards
  std::string batch_scope = "global";
  bool scale_lr = false;  // whether to multiply the learning rate by the number of devices if per_device()
  // Only `local_sgd` uses the following three members.
  int64_t period = 16;        // batches per device between two averages
  int64_t warmup_epochs = 0;  // number of initial epochs that average after every batch
  int64_t growth = 1;         // if above 1, the period grows by this factor every epoch, up to `period`

  bool per_device() const { return batch_scope == "per_device"; }  // whether batch_size counts per device
  int64_t period_of(int64_t epoch) const;
};

struct Settings {
  std::string layers;               // JSON with every key, which defines the network; kept in saved models
  std::string start;                // path of a safetensors file (saved/start.hpp), or "" for random values
  std::vector<std::string> absent;  // names of layers that only other candidates have
  std::string freeze;               // comma-separated names of layers (network/freeze.hpp)
  Loss loss = Loss::cross_entropy;
  LossForm loss_form;
  std::string class_weight;  // see sdk/class_weights.hpp
  bool weighted = false;     // whether there is a class_weight or the data has weights
  // Parameters of the distributions of shares; 0 means no mixing. At most one of the two is above 0.
  double mixup_alpha = 0, cutmix_alpha = 0;
  double ema_decay = 0;  // decay of the average of the weights; 0 means no average
  int64_t epochs = 1;    // if 0, the model is its start
  int64_t batch_size = 64;
  int64_t accumulate = 1;  // number of batches whose gradients one step averages
  bool shuffle = true, drop_last = false, standardise_target = false;
  ops::OptimizerSettings optimizer;  // with Muon, the settings for the parameters that AdamW steps
  Muon muon;
  Schedule schedule;
  StopRule stop;
  bool refit_validated = false;  // whether a refit whose rule needs validation takes its epochs from the validated fits
  int64_t stop_after = 0;        // number of epochs of a refit that ends before the schedule does; 0 means all
  Parallel parallel;
  ops::Augment augment;  // does not contain the sides of the images

  bool mirrors = false;  // whether predictions average the outputs for images and for their mirror images

  bool mixes() const { return mixup_alpha > 0 || cutmix_alpha > 0; }
  int64_t last_epoch() const { return stop_after > 0 ? std::min(stop_after, epochs) : epochs; }
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics;  // metrics of classifiers
extern const std::vector<mk_metric> kRegressionMetrics;

// Holds the members that the keys of an optimizer set.
struct OptimizerForm : ops::OptimizerSettings {
  double muon_lr = 0, muon_weight_decay = 0, momentum = 0;
  bool muon_nesterov = false;
  int64_t ns_steps = 0;
  std::string adjust_lr_fn;

  Muon muon() const { return {muon_lr, muon_weight_decay, momentum, muon_nesterov, ns_steps, adjust_lr_fn}; }
};
const Forms<OptimizerForm>& optimizers();

// Reads values[p] in the order of kParams. `classifies` determines the meaning of loss = "auto". Throws
// Error(MK_INVALID_ARGUMENT).
Settings settings_of(const mk_value* values, bool classifies);

}  // namespace mokume::cnn
