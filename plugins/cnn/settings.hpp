// The parameters of a network and its training: schema, and one candidate resolved. Names and defaults are PyTorch's.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "abi/model.h"
#include "sdk/ops/optimizer_step.hpp"

namespace mokume::cnn {

struct Conv2d {
  int64_t out_channels, kernel_size, stride, padding;
  bool bias;
};
struct Linear {
  int64_t out_features;
  bool bias;
};
struct MaxPool2d {
  int64_t kernel_size, stride, padding;
};
struct AdaptiveAvgPool2d {
  int64_t output_size;
};
struct Dropout {
  double p;
};
struct Normalise {
  double mean, std;
  bool per_feature;  // mean and deviation of every feature over the rows trained on, instead
};
struct Relu {};
struct Flatten {};
struct LogSoftmax {};
using LayerSettings =
    std::variant<Conv2d, Linear, Relu, MaxPool2d, AdaptiveAvgPool2d, Dropout, Flatten, Normalise, LogSoftmax>;

struct Schedule {
  enum class Kind { constant, step, exponential, cosine, one_cycle } kind = Kind::constant;
  int64_t step_size = 1;
  double gamma = 0.1, eta_min = 0, max_lr = 0, pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
};

struct StopRule {
  enum class Kind { none, ratio, plateau } kind = Kind::none;
  double ratio = 0.8;  // ratio: an epoch's training loss exceeds this share of the one before
  int64_t patience = 5;
  double min_delta = 0;  // plateau: no better by this for `patience` epochs
};

// How the devices of a team train one network.
struct Parallel {
  // none: alone only. synchronous: each step's batch is cut into shards, whose gradients are summed. local_sgd: batches
  // of their own, weights and states averaged now and then.
  enum class Kind { none, synchronous, local_sgd } kind = Kind::none;
  bool adapt = true;  // shares follow the speeds that devices show
  // synchronous
  int64_t shards = 8;       // a power of two; what comes out depends on it, and not on who computes which shard
  bool per_device = false;  // batch_size is that of each device, not of all together
  bool scale_lr = false;    // then: the learning rate times the number of devices
  // local_sgd
  int64_t period = 16;        // batches of each device between two averages
  int64_t warmup_epochs = 0;  // in which every batch is averaged
  int64_t growth = 1;         // above 1: after these the period grows by this factor every epoch, from it to `period`

  // Of this epoch.
  int64_t period_of(int64_t epoch) const;
};

enum class Loss { cross_entropy, mse };

struct Settings {
  std::vector<LayerSettings> layers;
  Loss loss = Loss::cross_entropy;
  int64_t epochs = 1, batch_size = 64;
  bool shuffle = true, drop_last = false, standardise_target = false;
  ops::OptimizerSettings optimizer;
  Schedule schedule;
  StopRule stop;
  Parallel parallel;
  std::string layers_json;  // as they were given: for saved models
};

extern const std::vector<mk_param> kParams;
extern const std::vector<mk_metric> kMetrics;  // of classifiers
extern const std::vector<mk_metric> kRegressionMetrics;

// Layers from their JSON; for models read from disk, where anything may stand. Error(MK_BAD_DATA).
std::vector<LayerSettings> layers_of(const std::string& json);

// A table from its JSON, with every key of its form. Throws nlohmann::json::exception.
ops::OptimizerSettings optimizer_of(const std::string& json);
Schedule schedule_of(const std::string& json);

// values[p] in the order of kParams; `classifies`: what loss = "auto" depends on. Error(MK_INVALID_ARGUMENT).
Settings settings_of(const mk_value* values, bool classifies);

// The learning rate of `step` (from 0) of a training of `steps` steps, `steps_per_epoch` an epoch: PyTorch's closed
// forms of StepLR, ExponentialLR, CosineAnnealingLR (by epoch) and OneCycleLR (by step, cosine, without momentum).
double learning_rate(const Schedule& schedule, double base, int64_t step, int64_t steps_per_epoch, int64_t epochs);

}  // namespace mokume::cnn
