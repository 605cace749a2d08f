#include "settings.hpp"

#include <bit>

#include "augmentation.hpp"
#include "forms.hpp"
#include "layers/table.hpp"
#include "network/expand.hpp"

namespace mokume::cnn {
namespace {

const Forms<StopRule>& stop_rules() {
  using S = StopRule;
  static const Forms<S> all = {{
      {"none", S::Kind::none, "never stops before the last epoch", {}},
      {"ratio",
       S::Kind::ratio,
       "stops once the training loss of an epoch exceeds a share of the previous one",
       {{positive("ratio", 1e6, "0.8", "share of the training loss of the previous epoch"), &S::ratio}}},
      {"plateau",
       S::Kind::plateau,
       "stops once the validation loss, or another curve, no longer improves",
       {{integer("patience", 1, 1e9, "5", "epochs without a better loss"), &S::patience},
        {real("min_delta", 0, 1e30, "0.0", "improvement that counts as better"), &S::min_delta},
        {younger(
             flag("per_epoch", "false",
                  "an epoch counts as better only if it alone improves by min_delta on the best one before it, as in "
                  "scikit-learn; false: all epochs of the patience together")),
         &S::per_epoch},
        {younger(flag("restore_best", "false", "keep the weights after the best epoch")), &S::restore_best},
        {younger(text("monitor", "\"auto\"",
                      "auto|train_loss|train_accuracy|validation_loss|validation_accuracy|validation_mse",
                      "the curve that says how good an epoch is; auto: validation_loss, or train_loss without "
                      "validation")),
         &S::monitor}}},
  }};
  return all;
}

const Forms<Parallel>& parallels() {
  using P = Parallel;
  static const Forms<P> all = {{
      {"none", P::Kind::none, "one network on one device", {}},
      {"synchronous",
       P::Kind::synchronous,
       "sums the gradients of the shards of each batch, with the result of a single device",
       {{integer("shards", 1, 1024, "8", "parts of a batch, a power of two; at most this many devices have work"),
         &P::shards},
        {text("batch_scope", "\"global\"", "global|per_device",
              "whether batch_size is the number of rows of all devices or of each device"),
         &P::batch_scope},
        {flag("scale_lr", "false", "with per_device: multiply the learning rate by the number of devices"),
         &P::scale_lr},
        {flag("adapt", "true",
              "adjust shares to the measured speeds of the devices; changes no bits within one device class"),
         &P::adapt}}},
      {"local_sgd",
       P::Kind::local_sgd,
       "each device trains on its own batches; weights and optimizer states are averaged",
       {{integer("period", 1, 1e9, "16", "batches per device between two averages"), &P::period},
        {integer("warmup_epochs", 0, 1e6, "0", "epochs in which every batch is averaged"), &P::warmup_epochs},
        {integer("growth", 1, 1e6, "1",
                 "above 1: the period grows from this number to `period`, by this factor every epoch"),
         &P::growth},
        {flag("adapt", "false",
              "adjust shares to the measured speeds of the devices; a run then cannot be repeated bit by bit"),
         &P::adapt}}},
  }};
  return all;
}

const ops::OptimizerSettings& checked(const ops::OptimizerSettings& o) {
  if (o.kind == ops::Optimizer::sgd && o.nesterov && (o.a == 0 || o.b != 0))
    throw Error(MK_INVALID_ARGUMENT, "optimizer: nesterov needs a momentum above 0 and a dampening of 0");
  return o;
}

const Schedule& checked(const Schedule& s, int64_t epochs) {
  if (epochs > 0 && s.warmup_epochs >= epochs)
    throw Error(MK_INVALID_ARGUMENT, "scheduler: warmup_epochs is " + std::to_string(s.warmup_epochs) +
                                         ", but the training has " + std::to_string(epochs) + " epochs: lower it");
  return s;
}

const StopRule& checked(const StopRule& s, bool classifies) {
  const bool accuracy = s.monitor.ends_with("accuracy"), squares = s.monitor.ends_with("mse");
  if ((accuracy && !classifies) || (squares && classifies))
    throw Error(MK_INVALID_ARGUMENT, "stop: monitor = \"" + s.monitor + "\" needs " +
                                         (classifies ? "a numeric target, but this data set has classes"
                                                     : "classes, but this data set has a numeric target") +
                                         ": use validation_loss");
  return s;
}

const Parallel& checked(const Parallel& p) {
  if (!std::has_single_bit(uint64_t(p.shards)))
    throw Error(MK_INVALID_ARGUMENT, "parallel: shards is " + std::to_string(p.shards) +
                                         ", but must be a power of two: the gradients are summed in pairs");
  if (p.scale_lr && !p.per_device())
    throw Error(MK_INVALID_ARGUMENT,
                "parallel: scale_lr needs batch_scope = \"per_device\": with \"global\" the batch does not grow");
  return p;
}

}  // namespace

namespace {

Forms<OptimizerForm>::Form muon_form() {
  using S = OptimizerForm;
  constexpr double kBelow1 = 0.9999999;
  return {"muon",
          ops::Optimizer::adamw,
          "Muon for the weights of all layers but the last, AdamW for the other parameters",
          {{positive("lr", 1e6, "0.001", "learning rate of Muon"), &S::muon_lr},
           {real("momentum", 0, kBelow1, "0.95", "share of the previous step that is kept"), &S::momentum},
           {flag("nesterov", "true", "Nesterov's momentum"), &S::muon_nesterov},
           {integer("ns_steps", 1, 99, "5", "Newton-Schulz steps towards an orthogonal matrix"), &S::ns_steps},
           {real("weight_decay", 0, 1e6, "0.1", "share of the weight that a step with lr = 1 removes"),
            &S::muon_weight_decay},
           {text("adjust_lr_fn", "\"original\"", "original|match_rms_adamw|spectral_unclamped",
                 "how the rate depends on the shape of a weight"),
            &S::adjust_lr_fn},
           {positive("adamw_lr", 1e6, "0.001", "learning rate of AdamW"), &S::lr},
           {real("adamw_beta1", 0, kBelow1, "0.9", "decay of the mean gradient"), &S::a},
           {real("adamw_beta2", 0, kBelow1, "0.999", "decay of the mean square"), &S::b},
           {real("adamw_eps", 0, 1, "1e-8", "added to the divisor"), &S::eps},
           {real("adamw_weight_decay", 0, 1e6, "0.01", "share of a parameter that a step with lr = 1 removes"),
            &S::weight_decay}}};
}

}  // namespace

const Forms<OptimizerForm>& optimizers() {
  using S = OptimizerForm;
  using Kind = ops::Optimizer;
  const auto rate = [](const char* fallback) {
    return Forms<S>::Key{positive("lr", 1e6, fallback, "learning rate"), &S::lr};
  };
  const auto share = [](const char* name, double most, const char* fallback, const char* doc, double S::*to) {
    return Forms<S>::Key{real(name, 0, most, fallback, doc), to};
  };
  constexpr double kBelow1 = 0.9999999;
  static const Forms<S>::Key amsgrad = {younger(flag("amsgrad", "false", "divide by the largest mean square so far")),
                                        &S::amsgrad};
  static const auto decay = share("weight_decay", 1e6, "0.0", "L2 penalty added to the gradient", &S::weight_decay);
  static const Forms<S> all = {{
      {"sgd",
       Kind::sgd,
       "stochastic gradient descent",
       {rate("0.001"),
        share("momentum", 1, "0.0", "share of the previous step that is kept", &S::a),
        decay,
        {younger(real("dampening", 0, 1, "0.0", "share of the gradient that does not enter the momentum")), &S::b},
        {younger(flag("nesterov", "false", "Nesterov's momentum")), &S::nesterov}}},
      {"adam",
       Kind::adam,
       "Adam",
       {rate("0.001"), share("beta1", kBelow1, "0.9", "decay of the mean gradient", &S::a),
        share("beta2", kBelow1, "0.999", "decay of the mean square", &S::b),
        share("eps", 1, "1e-8", "added to the divisor", &S::eps), decay, amsgrad}},
      {"adamw",
       Kind::adamw,
       "Adam with decoupled weight decay",
       {rate("0.001"), share("beta1", kBelow1, "0.9", "decay of the mean gradient", &S::a),
        share("beta2", kBelow1, "0.999", "decay of the mean square", &S::b),
        share("eps", 1, "1e-8", "added to the divisor", &S::eps),
        share("weight_decay", 1e6, "0.01", "share of the weight that a step with lr = 1 removes", &S::weight_decay),
        amsgrad}},
      {"rmsprop",
       Kind::rmsprop,
       "RMSprop",
       {rate("0.01"), share("alpha", kBelow1, "0.99", "decay of the mean square", &S::a),
        share("eps", 1, "1e-8", "added to the divisor", &S::eps),
        share("momentum", kBelow1, "0.0", "share of the previous step that is kept", &S::b), decay}},
      {"adadelta",
       Kind::adadelta,
       "Adadelta",
       {rate("1.0"), share("rho", kBelow1, "0.9", "decay of the mean squares", &S::a),
        share("eps", 1, "1e-6", "added under the roots", &S::eps), decay}},
      muon_form(),
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
  kParallel,
  kLabelSmoothing,
  kClassWeight,
  kFocalGamma,
  kHuberDelta,
  kSmoothL1Beta,
  kClipGradNorm,
  kEmaDecay,
  kAugment,
  kAccumulate,
  kRefitEpochs,
  kMixupAlpha,
  kStart,
  kFreeze,
  kCutmixAlpha,
  kTestTimeAugmentation
};

}  // namespace

const std::vector<mk_param> kParams = {
    layers_param(),
    loss_param(),
    integer("epochs", 0, 1e6, "10",
            "passes over the training rows; 0: train nothing, so that the model equals its start"),
    integer("batch_size", 1, 1e8, "64", "rows per step"),
    flag("shuffle", "true", "a new order of the rows every epoch"),
    flag("drop_last", "false", "skip an incomplete last batch"),
    flag("standardise_target", "false",
         "regression: learn (target - mean) / deviation over the training rows; metrics stay in the target's own "
         "unit"),
    optimizers().param("optimizer", "{ type = \"sgd\" }", "how a step changes the weights"),
    schedules().param("scheduler", "{ type = \"constant\" }", "how the learning rate changes"),
    stop_rules().param("stop", "{ type = \"none\" }", "when to stop before the last epoch"),
    parallels().param("parallel", "{ type = \"none\" }",
                      "how the devices of a team train one network: see [devices] team"),
    younger(
        real("label_smoothing", 0, 0.9999999, "0.0", "classes: share of the label that is spread over all classes")),
    younger(text("class_weight", "\"\"", "",
                 "classes: the weight of an error in training: \"balanced\", or \"cat=2, dog=0.5\"; other "
                 "classes have weight 1")),
    younger(positive("focal_gamma", 100, "2.0",
                     "loss = \"focal\": the exponent of 1 - the probability of the right class")),
    younger(positive("huber_delta", 1e30, "1.0", "loss = \"huber\": larger errors count linearly")),
    younger(positive("smooth_l1_beta", 1e30, "1.0", "loss = \"smooth_l1\": larger errors count linearly")),
    younger(real("clip_grad_norm", 0, 1e30, "0.0", "the largest norm of the gradients of a step; 0: any")),
    younger(real("ema_decay", 0, 0.9999999, "0.0",
                 "above 0: validate and predict with an average of the weights; each step retains this share of it")),
    augment_param(),
    younger(integer("gradient_accumulation_steps", 1, 1e6, "1",
                    "batches whose gradients are averaged for one step; the last step of an epoch may have fewer")),
    {"refit_epochs", MK_PARAM_TEXT, MK_PARAM_YOUNGER, 0, 0, "\"validated\"", "all|validated",
     "length of a refit after folds that a validation curve stopped. validated: the median of their numbers of "
     "epochs; all: until the same rule stops it by the training curve",
     nullptr, 0, 1},
    younger(
        real("mixup_alpha", 0, 8, "0.0",
             "above 0: learn from mixtures of two rows, whose shares have a Beta distribution with this parameter")),
    younger(file("start", "a safetensors file whose tensors are the initial values of the layers of their names")),
    younger(
        names("freeze", "layers and blocks whose parameters do not learn; a batch_norm then uses its running moments")),
    younger(
        real("cutmix_alpha", 0, 8, "0.0",
             "above 0: replace a rectangle of each image by that of another one, and learn from both; the shares of "
             "the areas have a Beta distribution with this parameter")),
    younger(
        text("test_time_augmentation", "\"none\"", "none|horizontal_flip",
             "horizontal_flip: validate and predict with the mean of the outputs for an image and its mirror image")),
};

const std::vector<mk_metric> kMetrics = {{"errors", 1, 0}, {"error", 0, 1}, {"loss", 0, 0}};
const std::vector<mk_metric> kRegressionMetrics = {{"mse", 0, 1}};

Settings settings_of(const mk_value* v, bool classifies) {
  try {
    Settings s;
    PresentLayers present = present_layers(v[kLayersParam].text);
    s.layers = std::move(present.layers);
    s.absent = std::move(present.absent);
    const auto layers = nlohmann::json::parse(s.layers);
    s.loss = loss_of(v[kLossParam].text, classifies, layers.empty() ? "" : layers.back().at("type"));
    s.loss_form = loss_form(v[kLossParam].text,
                            {v[kLabelSmoothing].real, v[kFocalGamma].real, v[kHuberDelta].real, v[kSmoothL1Beta].real},
                            classifies);
    s.class_weight = v[kClassWeight].text;
    if (!s.class_weight.empty() && !classifies)
      throw Error(MK_INVALID_ARGUMENT, "class_weight needs classes, but this data set has a numeric target: remove it");
    s.weighted = !s.class_weight.empty();
    s.mixup_alpha = v[kMixupAlpha].real;
    s.cutmix_alpha = v[kCutmixAlpha].real;
    s.mirrors = v[kTestTimeAugmentation].text == std::string("horizontal_flip");
    if (s.mixup_alpha > 0 && s.cutmix_alpha > 0)
      throw Error(MK_INVALID_ARGUMENT, "mixup_alpha and cutmix_alpha are both above 0: choose one of the two");
    s.ema_decay = v[kEmaDecay].real;
    s.start = v[kStart].text;
    s.freeze = v[kFreeze].text;
    s.epochs = v[kEpochs].integer;
    if (s.epochs == 0 && s.start.empty())
      throw Error(MK_INVALID_ARGUMENT, "epochs is 0, so the model is what it starts with: set start, or train it");
    s.batch_size = v[kBatchSize].integer;
    s.shuffle = v[kShuffle].integer != 0;
    s.drop_last = v[kDropLast].integer != 0;
    s.standardise_target = v[kStandardise].integer != 0 && s.loss == Loss::mse;
    const OptimizerForm optimizer = optimizers().read(v[kOptimizer].text);
    s.optimizer = checked(optimizer);
    s.muon = optimizer.muon();
    s.optimizer.clip = v[kClipGradNorm].real;
    s.schedule = checked(schedules().read(v[kScheduler].text), s.epochs);
    s.stop = checked(stop_rules().read(v[kStop].text), classifies);
    s.refit_validated = v[kRefitEpochs].text == std::string("validated");
    s.augment = augment_of_option(v[kAugment].text);
    s.parallel = checked(parallels().read(v[kParallel].text));
    s.accumulate = v[kAccumulate].integer;
    if (s.accumulate > 1 && s.parallel.kind == Parallel::Kind::local_sgd)
      throw Error(
          MK_INVALID_ARGUMENT,
          "gradient_accumulation_steps and parallel = \"local_sgd\", where each device takes a step for each of "
          "its batches, exclude each other: set it to 1, or use \"synchronous\"");
    if (s.epochs == 0 && s.parallel.kind != Parallel::Kind::none)
      throw Error(MK_INVALID_ARGUMENT, "epochs is 0, so there is nothing for a team to train: remove parallel");
    return s;
  } catch (const nlohmann::json::exception& e) {
    throw Error(MK_INTERNAL, std::string("cnn received settings that it does not support: ") + e.what());
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
