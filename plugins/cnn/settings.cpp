#include "settings.hpp"

#include <bit>

#include "forms.hpp"
#include "layers/table.hpp"

namespace mokume::cnn {
namespace {

const Forms<StopRule>& stop_rules() {
  using S = StopRule;
  static const Forms<S> all = {{
      {"none", S::Kind::none, "all epochs", {}},
      {"ratio",
       S::Kind::ratio,
       "once an epoch's training loss exceeds a share of the one before",
       {{positive("ratio", 1e6, "0.8", "of the training loss of the epoch before"), &S::ratio}}},
      {"plateau",
       S::Kind::plateau,
       "once the validation loss (the training loss without validation) stops falling",
       {{integer("patience", 1, 1e9, "5", "epochs without a better loss"), &S::patience},
        {real("min_delta", 0, 1e30, "0.0", "what counts as better"), &S::min_delta}}},
  }};
  return all;
}

const Forms<Parallel>& parallels() {
  using P = Parallel;
  static const Forms<P> all = {{
      {"none", P::Kind::none, "one network on one device", {}},
      {"synchronous",
       P::Kind::synchronous,
       "gradients of the shards of each batch, summed: as one device would",
       {{integer("shards", 1, 1024, "8", "parts of a batch, a power of two; at most so many devices have work"),
         &P::shards},
        {text("batch_scope", "\"global\"", "global|per_device",
              "whether batch_size counts the rows of all devices or of each"),
         &P::batch_scope},
        {flag("scale_lr", "false", "with per_device: the learning rate times the number of devices"), &P::scale_lr},
        {flag("adapt", "true",
              "shares follow the speeds that devices show; of one class of devices that changes no bit"),
         &P::adapt}}},
      {"local_sgd",
       P::Kind::local_sgd,
       "batches of its own for each device; weights and the optimizer's state are averaged",
       {{integer("period", 1, 1e9, "16", "batches of each device between two averages"), &P::period},
        {integer("warmup_epochs", 0, 1e6, "0", "epochs in which every batch is averaged"), &P::warmup_epochs},
        {integer("growth", 1, 1e6, "1",
                 "above 1: then the period grows from it to `period` by this factor every epoch"),
         &P::growth},
        {flag("adapt", "false", "shares follow the speeds that devices show: then a run cannot be repeated bit by bit"),
         &P::adapt}}},
  }};
  return all;
}

const Parallel& checked(const Parallel& p) {
  if (!std::has_single_bit(uint64_t(p.shards)))
    throw Error(MK_INVALID_ARGUMENT, "parallel: shards is " + std::to_string(p.shards) +
                                         ", and must be a power of two: the gradients are summed in pairs");
  if (p.scale_lr && !p.per_device())
    throw Error(MK_INVALID_ARGUMENT,
                "parallel: scale_lr needs batch_scope = \"per_device\": with \"global\" the batch does not grow");
  return p;
}

}  // namespace

const Forms<ops::OptimizerSettings>& optimizers() {
  using S = ops::OptimizerSettings;
  using Kind = ops::Optimizer;
  const auto rate = [](const char* fallback) {
    return Forms<S>::Key{positive("lr", 1e6, fallback, "learning rate"), &S::lr};
  };
  const auto share = [](const char* name, double most, const char* fallback, const char* doc, double S::*to) {
    return Forms<S>::Key{real(name, 0, most, fallback, doc), to};
  };
  constexpr double kBelow1 = 0.9999999;
  static const auto decay = share("weight_decay", 1e6, "0.0", "L2 penalty added to the gradient", &S::weight_decay);
  static const Forms<S> all = {{
      {"sgd",
       Kind::sgd,
       "stochastic gradient descent",
       {rate("0.001"), share("momentum", 1, "0.0", "share of the last step kept", &S::a), decay}},
      {"adam",
       Kind::adam,
       "Adam",
       {rate("0.001"), share("beta1", kBelow1, "0.9", "decay of the mean gradient", &S::a),
        share("beta2", kBelow1, "0.999", "decay of the mean square", &S::b),
        share("eps", 1, "1e-8", "added to the divisor", &S::eps), decay}},
      {"rmsprop",
       Kind::rmsprop,
       "RMSprop",
       {rate("0.01"), share("alpha", kBelow1, "0.99", "decay of the mean square", &S::a),
        share("eps", 1, "1e-8", "added to the divisor", &S::eps),
        share("momentum", kBelow1, "0.0", "share of the last step kept", &S::b), decay}},
      {"adadelta",
       Kind::adadelta,
       "Adadelta",
       {rate("1.0"), share("rho", kBelow1, "0.9", "decay of the mean squares", &S::a),
        share("eps", 1, "1e-6", "added under the roots", &S::eps), decay}},
  }};
  return all;
}

namespace {

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

}  // namespace

const std::vector<mk_param> kParams = {
    layers_param(),
    loss_param(),
    integer("epochs", 1, 1e6, "10", "passes over the training rows"),
    integer("batch_size", 1, 1e8, "64", "rows of one step"),
    flag("shuffle", "true", "a new order of the rows every epoch"),
    flag("drop_last", "false", "leave out a last batch that is not full"),
    flag("standardise_target", "false",
         "regression: learn (target - mean) / deviation over the rows trained on; metrics stay in the target's own "
         "unit"),
    optimizers().param("optimizer", "{ type = \"sgd\" }", "how a step changes the weights"),
    schedules().param("scheduler", "{ type = \"constant\" }", "how the learning rate changes"),
    stop_rules().param("stop", "{ type = \"none\" }", "when to stop before the last epoch"),
    parallels().param("parallel", "{ type = \"none\" }",
                      "how the devices of a team train one network: see [devices] team"),
};

const std::vector<mk_metric> kMetrics = {{"errors", 1, 0}, {"error", 0, 1}, {"loss", 0, 0}};
const std::vector<mk_metric> kRegressionMetrics = {{"mse", 0, 1}};

Settings settings_of(const mk_value* v, bool classifies) {
  try {
    Settings s;
    s.layers = v[kLayersParam].text;
    const auto layers = nlohmann::json::parse(s.layers);
    s.loss = loss_of(v[kLossParam].text, classifies, layers.empty() ? "" : layers.back().at("type"));
    s.epochs = v[kEpochs].integer;
    s.batch_size = v[kBatchSize].integer;
    s.shuffle = v[kShuffle].integer != 0;
    s.drop_last = v[kDropLast].integer != 0;
    s.standardise_target = v[kStandardise].integer != 0 && s.loss == Loss::mse;
    s.optimizer = optimizers().read(v[kOptimizer].text);
    s.schedule = schedules().read(v[kScheduler].text);
    s.stop = stop_rules().read(v[kStop].text);
    s.parallel = checked(parallels().read(v[kParallel].text));
    return s;
  } catch (const nlohmann::json::exception& e) {
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

}  // namespace mokume::cnn
