#include "settings.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sdk/error.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;

constexpr double kMostElements = 1e9;

mk_param integer(const char* name, double low, double high, const char* fallback, const char* doc) {
  return {name, MK_PARAM_INTEGER, 0, low, high, fallback, "", doc, nullptr, 0, 0};
}
mk_param real(const char* name, double low, double high, const char* fallback, const char* doc, uint32_t flags = 0) {
  return {name, MK_PARAM_REAL, flags, low, high, fallback, "", doc, nullptr, 0, 0};
}
mk_param flag(const char* name, const char* fallback, const char* doc) {
  return {name, MK_PARAM_BOOL, 0, 0, 0, fallback, "", doc, nullptr, 0, 0};
}
mk_form form(const char* name, const char* doc, const std::vector<mk_param>& params) {
  return {name, doc, params.data(), static_cast<uint32_t>(params.size()), 0};
}
mk_param one_of(const char* name, const char* fallback, const char* doc, const std::vector<mk_form>& forms) {
  return {name, MK_PARAM_FORM, 0, 0, 0, fallback, "", doc, forms.data(), static_cast<uint32_t>(forms.size()), 0};
}

const mk_param kWeightDecay = real("weight_decay", 0, 1e6, "0.0", "L2 penalty added to the gradient");
mk_param rate(const char* fallback) { return real("lr", 0, 1e6, fallback, "learning rate", MK_PARAM_EXCLUSIVE_MIN); }

const std::vector<mk_param> kConv2d = {
    integer("out_channels", 1, 1e6, "", "filters"),
    integer("kernel_size", 1, 1024, "", "side of the square window"),
    integer("stride", 1, 1024, "1", "step of the window"),
    integer("padding", 0, 1023, "0", "zeros around the image"),
    flag("bias", "true", "one number added per filter"),
};
const std::vector<mk_param> kLinear = {
    integer("out_features", 1, kMostElements, "", "outputs"),
    flag("bias", "true", "one number added per output"),
};
const std::vector<mk_param> kMaxPool2d = {
    integer("kernel_size", 1, 1024, "", "side of the square window"),
    integer("stride", 0, 1024, "0", "step of the window; 0: as large as the window"),
    integer("padding", 0, 1023, "0", "places around the image that are never chosen"),
};
const std::vector<mk_param> kAdaptiveAvgPool2d = {integer("output_size", 1, 4096, "1", "side of the square output")};
const std::vector<mk_param> kDropout = {real("p", 0, 0.999999, "0.5", "share of the elements set to zero in training")};
const std::vector<mk_param> kNormalise = {
    real("mean", -1e30, 1e30, "0.0", "subtracted"),
    real("std", 0, 1e30, "1.0", "divided by", MK_PARAM_EXCLUSIVE_MIN),
    flag("per_feature", "false", "mean and deviation of every feature over the rows trained on, instead"),
};
const std::vector<mk_param> kNothing;
const std::vector<mk_form> kLayers = {
    form("conv2d", "convolution", kConv2d),
    form("linear", "fully connected", kLinear),
    form("relu", "max(0, x)", kNothing),
    form("max_pool2d", "largest element under a window", kMaxPool2d),
    form("adaptive_avg_pool2d", "mean over areas of a grid", kAdaptiveAvgPool2d),
    form("dropout", "random zeros in training", kDropout),
    form("flatten", "images as plain rows", kNothing),
    form("normalise", "(x - mean) / std", kNormalise),
    form("log_softmax", "log-probabilities; the last layer of a classifier, may be left out", kNothing),
};

const std::vector<mk_param> kSgd = {rate("0.001"), real("momentum", 0, 1, "0.0", "share of the last step kept"),
                                    kWeightDecay};
const std::vector<mk_param> kAdam = {rate("0.001"), real("beta1", 0, 0.9999999, "0.9", "decay of the mean gradient"),
                                     real("beta2", 0, 0.9999999, "0.999", "decay of the mean square"),
                                     real("eps", 0, 1, "1e-8", "added to the divisor"), kWeightDecay};
const std::vector<mk_param> kRmsprop = {rate("0.01"), real("alpha", 0, 0.9999999, "0.99", "decay of the mean square"),
                                        real("eps", 0, 1, "1e-8", "added to the divisor"),
                                        real("momentum", 0, 0.9999999, "0.0", "share of the last step kept"),
                                        kWeightDecay};
const std::vector<mk_param> kAdadelta = {rate("1.0"), real("rho", 0, 0.9999999, "0.9", "decay of the mean squares"),
                                         real("eps", 0, 1, "1e-6", "added under the roots"), kWeightDecay};
const std::vector<mk_form> kOptimizers = {
    form("sgd", "stochastic gradient descent", kSgd),
    form("adam", "Adam", kAdam),
    form("rmsprop", "RMSprop", kRmsprop),
    form("adadelta", "Adadelta", kAdadelta),
};

const mk_param kGamma = real("gamma", 0, 1e3, "0.1", "factor of the rate", MK_PARAM_EXCLUSIVE_MIN);
const std::vector<mk_param> kStep = {kGamma, integer("step_size", 1, 1e9, "1", "epochs between two factors")};
const std::vector<mk_param> kExponential = {kGamma};
const std::vector<mk_param> kCosine = {
    real("eta_min", 0, 1e6, "0.0", "the rate that the cosine comes down to, behind the last epoch")};
const std::vector<mk_param> kOneCycle = {
    real("max_lr", 0, 1e6, "0.01", "the largest rate", MK_PARAM_EXCLUSIVE_MIN),
    real("pct_start", 0, 1, "0.3", "share of the steps in which the rate rises"),
    real("div_factor", 1, 1e9, "25.0", "max_lr over the first rate"),
    real("final_div_factor", 1, 1e12, "1e4", "the first rate over the last"),
};
const std::vector<mk_form> kSchedules = {
    form("constant", "one rate", kNothing),
    form("step", "times gamma every step_size epochs", kStep),
    form("exponential", "times gamma every epoch", kExponential),
    form("cosine", "half a cosine over the epochs", kCosine),
    form("one_cycle", "up and down by cosines, step by step", kOneCycle),
};

const std::vector<mk_param> kRatio = {
    real("ratio", 0, 1e6, "0.8", "of the training loss of the epoch before", MK_PARAM_EXCLUSIVE_MIN)};
const std::vector<mk_param> kPlateau = {integer("patience", 1, 1e9, "5", "epochs without a better loss"),
                                        real("min_delta", 0, 1e30, "0.0", "what counts as better")};
const std::vector<mk_form> kStops = {
    form("none", "all epochs", kNothing),
    form("ratio", "once an epoch's training loss exceeds a share of the one before", kRatio),
    form("plateau", "once the validation loss (the training loss without validation) stops falling", kPlateau),
};

const std::vector<mk_param> kSynchronous = {
    integer("shards", 1, 1024, "8", "parts of a batch, a power of two; at most so many devices have work"),
    {"batch_scope", MK_PARAM_TEXT, 0, 0, 0, "\"global\"", "global|per_device",
     "whether batch_size counts the rows of all devices or of each", nullptr, 0, 0},
    flag("scale_lr", "false", "with per_device: the learning rate times the number of devices"),
    flag("adapt", "true", "shares follow the speeds that devices show; of one class of devices that changes no bit"),
};
const std::vector<mk_param> kLocalSgd = {
    integer("period", 1, 1e9, "16", "batches of each device between two averages"),
    integer("warmup_epochs", 0, 1e6, "0", "epochs in which every batch is averaged"),
    integer("growth", 1, 1e6, "1", "above 1: then the period grows from it to `period` by this factor every epoch"),
    flag("adapt", "false", "shares follow the speeds that devices show: then a run cannot be repeated bit by bit"),
};
const std::vector<mk_form> kParallels = {
    form("none", "one network on one device", kNothing),
    form("synchronous", "gradients of the shards of each batch, summed: as one device would", kSynchronous),
    form("local_sgd", "batches of its own for each device; weights and the optimizer's state are averaged", kLocalSgd),
};

enum Param {
  kLayersParam,
  kLossParam,
  kEpochs,
  kBatchSize,
  kShuffle,
  kDropLast,
  kStandardise,
  kOptimizer,
  kScheduler,
  kStop,
  kParallel
};

json read(const mk_value& value) { return json::parse(value.text); }

LayerSettings layer_of(const json& j) {
  const std::string type = j.at("type");
  if (type == "conv2d")
    return Conv2d{j.at("out_channels"), j.at("kernel_size"), j.at("stride"), j.at("padding"), j.at("bias")};
  if (type == "linear") return Linear{j.at("out_features"), j.at("bias")};
  if (type == "relu") return Relu{};
  if (type == "max_pool2d") {
    const int64_t kernel = j.at("kernel_size"), stride = j.at("stride");
    return MaxPool2d{kernel, stride == 0 ? kernel : stride, j.at("padding")};
  }
  if (type == "adaptive_avg_pool2d") return AdaptiveAvgPool2d{j.at("output_size")};
  if (type == "dropout") return Dropout{j.at("p")};
  if (type == "flatten") return Flatten{};
  if (type == "normalise") return Normalise{j.at("mean"), j.at("std"), j.at("per_feature")};
  if (type == "log_softmax") return LogSoftmax{};
  throw Error(MK_INVALID_ARGUMENT, "unknown layer '" + type + "'");
}

// What the schema has checked in an experiment file holds of a file from anywhere too.
LayerSettings checked(const LayerSettings& layer) {
  const auto need = [](bool good) {
    if (!good) throw Error(MK_BAD_DATA, "a layer of the network has a size out of range");
  };
  const auto window = [&](int64_t kernel, int64_t stride, int64_t padding) {
    need(kernel >= 1 && kernel <= 1024 && stride >= 1 && stride <= 1024 && padding >= 0 && padding < 1024);
  };
  if (const auto* c = std::get_if<Conv2d>(&layer)) {
    window(c->kernel_size, c->stride, c->padding);
    need(c->out_channels >= 1 && c->out_channels <= 1'000'000);
  }
  if (const auto* l = std::get_if<Linear>(&layer)) need(l->out_features >= 1 && l->out_features <= 1'000'000'000);
  if (const auto* m = std::get_if<MaxPool2d>(&layer)) window(m->kernel_size, m->stride, m->padding);
  if (const auto* a = std::get_if<AdaptiveAvgPool2d>(&layer)) need(a->output_size >= 1 && a->output_size <= 4096);
  if (const auto* d = std::get_if<Dropout>(&layer)) need(d->p >= 0 && d->p < 1);
  if (const auto* n = std::get_if<Normalise>(&layer))
    need(std::isfinite(n->mean) && std::isfinite(n->std) && n->std > 0);
  return layer;
}

StopRule stop_of(const json& j) {
  StopRule s;
  const std::string type = j.at("type");
  if (type == "ratio") s.kind = StopRule::Kind::ratio;
  if (type == "plateau") s.kind = StopRule::Kind::plateau;
  s.ratio = j.value("ratio", s.ratio);
  s.patience = j.value("patience", s.patience);
  s.min_delta = j.value("min_delta", s.min_delta);
  return s;
}

Parallel parallel_of(const json& j) {
  Parallel p;
  const std::string type = j.at("type");
  if (type == "synchronous") p.kind = Parallel::Kind::synchronous;
  if (type == "local_sgd") p.kind = Parallel::Kind::local_sgd;
  p.adapt = j.value("adapt", p.adapt);
  p.shards = j.value("shards", p.shards);
  p.per_device = j.value("batch_scope", std::string("global")) == "per_device";
  p.scale_lr = j.value("scale_lr", p.scale_lr);
  p.period = j.value("period", p.period);
  p.warmup_epochs = j.value("warmup_epochs", p.warmup_epochs);
  p.growth = j.value("growth", p.growth);
  if (!std::has_single_bit(static_cast<uint64_t>(p.shards)))
    throw Error(MK_INVALID_ARGUMENT, "parallel: shards is " + std::to_string(p.shards) +
                                         ", and must be a power of two: the gradients are summed in pairs");
  if (p.scale_lr && !p.per_device)
    throw Error(MK_INVALID_ARGUMENT,
                "parallel: scale_lr needs batch_scope = \"per_device\": with \"global\" the batch does not grow");
  return p;
}

Loss loss_of(const std::string& name, bool classifies) {
  if (name == "auto") return classifies ? Loss::cross_entropy : Loss::mse;
  if (name == "mse" && classifies)
    throw Error(MK_INVALID_ARGUMENT,
                "loss = \"mse\" needs a target of numbers, and this data set has classes: use cross_entropy");
  if (name != "mse" && !classifies)
    throw Error(MK_INVALID_ARGUMENT,
                "loss = \"" + name + "\" needs classes, and this data set has a target of numbers: use mse");
  return name == "mse" ? Loss::mse : Loss::cross_entropy;
}

double cosine_between(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace

const std::vector<mk_param> kParams = {
    {"layers", MK_PARAM_FORMS, 0, 0, 0, "[{ type = \"flatten\" }, { type = \"linear\", out_features = 10 }]", "",
     "the network, from input to output", kLayers.data(), static_cast<uint32_t>(kLayers.size()), 0},
    {"loss", MK_PARAM_TEXT, 0, 0, 0, "\"auto\"", "auto|cross_entropy|nll|mse",
     "auto: cross_entropy for classes, mse for numbers; nll is cross_entropy behind a log_softmax layer", nullptr, 0,
     0},
    integer("epochs", 1, 1e6, "10", "passes over the training rows"),
    integer("batch_size", 1, 1e8, "64", "rows of one step"),
    flag("shuffle", "true", "a new order of the rows every epoch"),
    flag("drop_last", "false", "leave out a last batch that is not full"),
    flag("standardise_target", "false",
         "regression: learn (target - mean) / deviation over the rows trained on; metrics stay in the target's own "
         "unit"),
    one_of("optimizer", "{ type = \"sgd\" }", "how a step changes the weights", kOptimizers),
    one_of("scheduler", "{ type = \"constant\" }", "how the learning rate changes", kSchedules),
    one_of("stop", "{ type = \"none\" }", "when to stop before the last epoch", kStops),
    one_of("parallel", "{ type = \"none\" }", "how the devices of a team train one network: see [devices] team",
           kParallels),
};

const std::vector<mk_metric> kMetrics = {{"errors", 1, 0}, {"error", 0, 1}, {"loss", 0, 0}};
const std::vector<mk_metric> kRegressionMetrics = {{"mse", 0, 1}};

ops::OptimizerSettings optimizer_of(const std::string& text) {
  const json j = json::parse(text);
  ops::OptimizerSettings o;
  const std::string type = j.at("type");
  o.lr = j.at("lr");
  o.weight_decay = j.at("weight_decay");
  if (type == "sgd") {
    o.kind = ops::Optimizer::sgd;
    o.a = j.at("momentum");
    return o;
  }
  o.eps = j.at("eps");
  if (type == "adam") {
    o.kind = ops::Optimizer::adam;
    o.a = j.at("beta1");
    o.b = j.at("beta2");
  } else if (type == "rmsprop") {
    o.kind = ops::Optimizer::rmsprop;
    o.a = j.at("alpha");
    o.b = j.at("momentum");
  } else {
    o.kind = ops::Optimizer::adadelta;
    o.a = j.at("rho");
  }
  return o;
}

Schedule schedule_of(const std::string& text) {
  const json j = json::parse(text);
  using Kind = Schedule::Kind;
  static const std::map<std::string, Kind> kinds = {{"constant", Kind::constant},
                                                    {"step", Kind::step},
                                                    {"exponential", Kind::exponential},
                                                    {"cosine", Kind::cosine},
                                                    {"one_cycle", Kind::one_cycle}};
  Schedule s;
  s.kind = kinds.at(j.at("type"));
  s.gamma = j.value("gamma", s.gamma);
  s.step_size = j.value("step_size", s.step_size);
  s.eta_min = j.value("eta_min", s.eta_min);
  s.max_lr = j.value("max_lr", s.max_lr);
  s.pct_start = j.value("pct_start", s.pct_start);
  s.div_factor = j.value("div_factor", s.div_factor);
  s.final_div_factor = j.value("final_div_factor", s.final_div_factor);
  return s;
}

std::vector<LayerSettings> layers_of(const std::string& text) {
  try {
    std::vector<LayerSettings> layers;
    for (const json& layer : json::parse(text)) layers.push_back(checked(layer_of(layer)));
    return layers;
  } catch (const json::exception& e) {
    throw Error(MK_BAD_DATA, std::string("the layers of the network are damaged: ") + e.what());
  }
}

Settings settings_of(const mk_value* v, bool classifies) {
  try {
    Settings s;
    s.layers_json = v[kLayersParam].text;
    s.layers = layers_of(s.layers_json);
    s.loss = loss_of(v[kLossParam].text, classifies);
    if (v[kLossParam].text == std::string("nll") &&
        (s.layers.empty() || !std::holds_alternative<LogSoftmax>(s.layers.back())))
      throw Error(MK_INVALID_ARGUMENT,
                  "loss = \"nll\" takes what a log_softmax layer gives, and there is none at the end: add one, or use "
                  "cross_entropy");
    s.epochs = v[kEpochs].integer;
    s.batch_size = v[kBatchSize].integer;
    s.shuffle = v[kShuffle].integer != 0;
    s.drop_last = v[kDropLast].integer != 0;
    s.standardise_target = v[kStandardise].integer != 0 && s.loss == Loss::mse;
    s.optimizer = optimizer_of(v[kOptimizer].text);
    s.schedule = schedule_of(v[kScheduler].text);
    s.stop = stop_of(read(v[kStop]));
    s.parallel = parallel_of(read(v[kParallel]));
    return s;
  } catch (const json::exception& e) {
    throw Error(MK_INTERNAL, std::string("cnn was given settings it does not understand: ") + e.what());
  }
}

int64_t Parallel::period_of(int64_t epoch) const {
  if (epoch < warmup_epochs) return 1;
  if (growth == 1) return period;
  int64_t p = 1;
  for (int64_t e = warmup_epochs; e <= epoch && p < period; ++e) p *= growth;
  return std::min(p, period);
}

double learning_rate(const Schedule& s, double base, int64_t step, int64_t steps_per_epoch, int64_t epochs) {
  const auto epoch = static_cast<double>(step / steps_per_epoch);
  switch (s.kind) {
    case Schedule::Kind::constant:
      return base;
    case Schedule::Kind::step:
      return base * std::pow(s.gamma, std::floor(epoch / static_cast<double>(s.step_size)));
    case Schedule::Kind::exponential:
      return base * std::pow(s.gamma, epoch);
    case Schedule::Kind::cosine:
      return cosine_between(base, s.eta_min, epoch / static_cast<double>(epochs));
    case Schedule::Kind::one_cycle: {
      const auto total = static_cast<double>(epochs * steps_per_epoch);
      const double first = s.max_lr / s.div_factor, last = first / s.final_div_factor;
      const double top = std::max(s.pct_start * total - 1, 0.0), at = static_cast<double>(step);
      if (at <= top) return cosine_between(first, s.max_lr, top > 0 ? at / top : 1);
      return cosine_between(s.max_lr, last, std::min(1.0, (at - top) / (total - 1 - top)));
    }
  }
  return base;
}

}  // namespace mokume::cnn
