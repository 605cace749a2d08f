#include "train/training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "augmentation.hpp"
#include "network/initial.hpp"
#include "network/whitening.hpp"
#include "saved/start.hpp"
#include "sdk/ops/augment.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gather_rows.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/philox.hpp"
#include "train/loss.hpp"

namespace mokume::cnn {
namespace {

// The shards of a batch run one at a time, so that activations fit into caches and need less memory.
int64_t rows_of_pass(const Settings& settings) {
  constexpr int64_t kValidated = 64;  // minimum number of rows in a batch of the validation
  const Parallel& p = settings.parallel;
  if (p.kind != Parallel::Kind::synchronous) return settings.batch_size;
  return std::max((settings.batch_size + p.shards - 1) / p.shards, std::min(settings.batch_size, kValidated));
}

EngineOptions engine_options(const Settings& settings, const Part& part) {
  EngineOptions options;
  options.part = part;
  const bool synchronous = settings.parallel.kind == Parallel::Kind::synchronous;
  options.accumulate = settings.accumulate > 1;
  options.gradients = synchronous || options.accumulate;
  if (synchronous) options.leaves = settings.parallel.shards;
  options.average = settings.ema_decay;
  options.best = settings.stop.restore_best;
  options.muon = settings.muon;
  return options;
}

}  // namespace

Training::Training(const sdk::Host& host, const sdk::Device& device, const ResidentData& data, const Network& network,
                   const Settings& settings, TrainingTask task, StackMemory* memory)
    : host_(host),
      device_(device),
      data_(data),
      network_(network),
      settings_(settings),
      task_(std::move(task)),
      engine_(device, network, rows_of_pass(settings), true, settings.optimizer, engine_options(settings, task_.part),
              memory),
      position_(settings_, int64_t(task_.train.size())),
      record_{data.classifies, settings.stop},
      dropout_seed_(sdk::Random(task_.seed, sdk::Purpose::dropout, task_.stream).bits64(0)),
      augment_seed_(sdk::Random(task_.seed, sdk::Purpose::dropout, task_.stream).bits64(1)),
      augment_(augment_for(settings.augment, network.input)) {
  const auto phase = device.phase("load");
  if (engine_.has_input()) data.inputs();  // takes the memory now, so that training cannot run out of it later
  if (engine_.has_output()) data.targets();
  StackMemory own(device);
  StackMemory& from = memory != nullptr ? *memory : own;
  const auto n = std::max(int64_t(task_.train.size()), task_.train_room),
             m = std::max(int64_t(task_.validate.size()), task_.validate_room);
  order_ = from.take(n);
  results_ = from.take(2 * n);
  validation_order_ = from.take(m);
  validation_order_.write(device, task_.validate.data(), task_.validate.size());
  validation_results_ = from.take(2 * m);
  if (settings_.weighted) {
    weights_ = from.take(data_.rows);
    weights_.write(device, task_.weights.data(), task_.weights.size());
  }
  if (settings_.mixes() && (engine_.has_input() || engine_.has_output()))
    mixup_ = Mixup(device, engine_.batch(), network.input.elements(), network.outputs(), from);
  if (settings_.mirrors) {
    if (!engine_.has_input() || !engine_.has_output())
      throw Error(
          MK_UNSUPPORTED,
          "test_time_augmentation needs the whole network on one device: remove it, or do not divide the layers");
    plain_outputs_ = from.take(engine_.batch() * network.outputs());
    one_ = from.take(1);
    device.submit(ops::fill(one_.vector(1), 1.0F));
  }
  if (settings_.standardise_target) {
    scaled_target_ = from.take(data_.rows);
    scale_target();
  }
  write_initial_values(host_, network_.parameters, task_.seed, task_.stream, engine_.parameters());
  for (const Parameter& p : network_.parameters)
    if (p.draw == Parameter::Draw::whitening)
      engine_.parameters().write(p.offset, whitening_values(host_, p, network_.input, data_.host.x, task_.train));
  if (!settings_.start.empty()) begin_with(Start(settings_.start, task_.start, network_));
  if (network_.wants_moments()) {
    if (moments_.feature_mean.empty()) measure_features(data_.host, task_.train, moments_);
    engine_.set_moments(moments_.feature_mean, moments_.feature_deviation);
  }
  engine_.put_ops(&queue_);
}

uint64_t Training::bytes(const Network& network, const Settings& settings, int64_t rows, const Part& part) {
  // Each row has its index in an order, its loss and hit, and, where used, a scaled target and a weight.
  const int64_t words = rows * (3 + (settings.standardise_target ? 1 : 0) + (settings.weighted ? 1 : 0));
  const int64_t mixed =
      settings.mixes() ? Mixup::elements(rows_of_pass(settings), network.input.elements(), network.outputs()) : 0;
  const int64_t mirrored = settings.mirrors ? rows_of_pass(settings) * network.outputs() + 1 : 0;
  return 4 * (words + mixed + mirrored) +
         Engine::bytes(network, rows_of_pass(settings), true, settings.optimizer, engine_options(settings, part));
}

uint64_t Training::largest_buffer(const Network& network, const Settings& settings, const Part& part) {
  return Engine::flow_bytes(network, part, rows_of_pass(settings));
}

void Training::begin_with(const Start& start) {
  start.write(engine_.parameters());
  moments_.feature_mean = start.moments().feature_mean;
  moments_.feature_deviation = start.moments().feature_deviation;
}

void Training::scale_target() {
  measure_target(data_.host, task_.train, moments_);
  std::vector<float> target(data_.host.targets, data_.host.targets + data_.rows);
  for (float& t : target) t = (t - moments_.target_mean) / moments_.target_deviation;
  scaled_target_.write(device_, target.data(), target.size());
}

void Training::restore() {
  if (const auto found = find()) found->read_into(engine_);
}

std::optional<StoredCheckpoint> Training::find() {
  const auto phase = device_.phase("checkpoint");
  auto found = find_checkpoint(host_, task_.scratch, task_.fingerprint, engine_);
  if (!found) return {};
  const Checkpoint& c = found->checkpoint;
  if (c.epoch < 0 || c.epoch >= settings_.last_epoch() || c.batch < 0 || c.batch >= position_.batches() ||
      c.batch_size != settings_.batch_size || int64_t(c.results.size()) != 2 * c.batch * c.batch_size ||
      int64_t(c.history.train_loss.size()) != c.epoch)
    return {};
  position_.epoch = c.epoch;
  position_.batch = c.batch;
  record_.history = c.history;
  position_.reductions = reductions(settings_.schedule, record_.watched());
  results_.write(device_, c.results.data(), c.results.size());
  return found;
}

void Training::save(const ReadState& read) {
  if (task_.scratch.empty()) return;
  const auto phase = device_.phase("checkpoint");
  Checkpoint c{task_.fingerprint, position_.epoch, position_.batch, settings_.batch_size, record_.history, {}};
  c.results.resize(2 * c.batch * c.batch_size);
  results_.read(device_, c.results.data(), c.results.size());
  save_checkpoint(host_, task_.scratch, c, engine_, read);
}

void Training::begin_epoch() {
  const auto phase = device_.phase("load");
  std::vector<int32_t> order = task_.train;
  if (settings_.shuffle) {
    const sdk::Random random(task_.seed, sdk::Purpose::batches, task_.stream, uint32_t(position_.epoch));
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(uint32_t(k - 1), k)]);
  }
  order_.write(device_, order.data(), order.size());
  epoch_weights_.clear();
  if (settings_.weighted)
    for (const int32_t row : order) epoch_weights_.push_back(task_.weights[row]);
  shown_batch_ = position_.batch;
}

void Training::end_epoch() {
  const int64_t rows = position_.rows_done();
  position_.next_epoch();
  record_.add_epoch(score(0, rows));
}

void Training::diverge() {
  // The curves record the divergence for the whole epoch.
  if (!position_.at_start_of_epoch()) position_.next_epoch();
  record_.add_epoch({std::numeric_limits<double>::quiet_NaN(), 0, 0, 0});
}

// Returns the divisor of a batch's losses: the number of its rows, or the sum of their weights.
double Training::batch_weight() const {
  const RowRange batch = position_.range();
  if (!settings_.weighted) return batch.rows;
  double sum = 0;
  for (int64_t r = batch.first; r < batch.first + batch.rows; ++r) sum += epoch_weights_[r];
  return sum > 0 ? sum : 1;  // no row has a weight above 0
}

void Training::keep_best() {
  engine_.put_ops(nullptr);
  engine_.keep_best();
  engine_.put_ops(&queue_);
}

void Training::end_validation() {
  if (untrained()) return record_.add_start(score(validation_results_, 0, validation_rows(), {}));
  if (!record_.diverged && !task_.validate.empty())
    record_.add_validation(score(validation_results_, 0, validation_rows(), {}));
  record_.apply_rule();
  position_.reductions = reductions(settings_.schedule, record_.watched());
}

const char* Training::name(Phase phase) {
  // "backward" includes the steps that layers take in the backward pass.
  constexpr const char* kNames[] = {"load", "forward", "backward", "step"};
  return kNames[int(phase)];
}

void Training::put(Phase phase, const RowRange& part) {
  const RowRange batch = position_.range();
  const int64_t first = batch.first + part.first, rows = part.rows;
  const mk_tensor index = order_.vector(rows, first, MK_I32);
  const ops::DropoutPlace dropout{dropout_seed_, 0, uint32_t(position_.batches_begun()), part.first};
  const auto submit = [this](const mk_op& op) { queue_.push_back(op); };
  if (phase == Phase::load || queued_rows_.empty()) queued_rows_.push_back(rows);
  switch (phase) {
    case Phase::load:
      if (!engine_.has_input()) return;
      if (augment_.changes())
        submit(ops::augment(data_.inputs(), index, augment_,
                            {augment_seed_, uint32_t(position_.batches_begun()), part.first}, engine_.input(rows)));
      else
        submit(ops::gather_rows(data_.inputs(), index, engine_.input(rows)));
      if (settings_.mixup_alpha > 0) mixup_.mix(engine_.input(rows), mixed_share(), submit);
      if (settings_.cutmix_alpha > 0) mixup_.cut(engine_.input(rows), network_.input, cut_box(), submit);
      return;
    case Phase::forward: {
      const mk_tensor outputs = engine_.forward(rows, &dropout);
      if (engine_.has_output()) put_loss(first, outputs);
      return;
    }
    case Phase::backward:
      return engine_.train_back(rows, dropout, position_.optimizer(), position_.step() + 1);
    case Phase::step:
      if (settings_.accumulate > 1) {
        // Networks in a stack may be at different batches of a step, which have different numbers of ops.
        queued_rows_.push_back(-1 - (position_.begins_step() ? 1 : 0) - (position_.ends_step() ? 2 : 0));
        engine_.accumulate(position_.begins_step());
        if (!position_.ends_step()) return;
      }
      return engine_.step(position_.optimizer(), position_.step() + 1, position_.muon_lr());
  }
}

void Training::backward(const RowRange& part, const ParameterVector& to, std::span<const Engine::Add> adds,
                        const Engine::Summed& summed) {
  engine_.put_ops(nullptr);
  engine_.backward(part.rows, {dropout_seed_, 0, uint32_t(position_.batches_begun()), part.first}, to, adds, summed,
                   double(part.rows) / double(position_.range().rows));
  engine_.put_ops(&queue_);
}

void Training::clear_queue() {
  queue_.clear();
  queued_rows_.clear();
}

int64_t Training::validation_batches() const {
  return record_.diverged ? 0 : (validation_rows() + engine_.batch() - 1) / engine_.batch();
}

RowRange Training::validation_range(int64_t k) const {
  const int64_t first = k * engine_.batch();
  return {first, std::min(engine_.batch(), validation_rows() - first)};
}

void Training::load_validation(int64_t k) {
  if (!engine_.has_input()) return;
  const auto [first, rows] = validation_range(k);
  queue_.push_back(
      ops::gather_rows(data_.inputs(), validation_order_.vector(rows, first, MK_I32), engine_.input(rows)));
}

void Training::validate(int64_t k) {
  const auto [first, rows] = validation_range(k);
  queued_rows_.push_back(rows);
  engine_.use_average(!untrained());
  const mk_tensor outputs = predict_validation({first, rows});
  engine_.use_average(false);
  if (!engine_.has_output()) return;
  // Validation compares classifiers by the plain cross-entropy, whatever their training loss is.
  const LossForm form{{}, settings_.loss_form.distance, {}};
  queue_.push_back(loss_of(outputs, validation_order_.vector(rows, first, MK_I32), 1,
                           validation_results_.matrix(rows, 2, 2 * first), {}, form));
}

// Returns the outputs for loaded rows of the validation.
mk_tensor Training::predict_validation(const RowRange& range) {
  const mk_tensor outputs = engine_.forward(range.rows, nullptr);
  if (!settings_.mirrors) return outputs;
  const auto flat = [](const mk_tensor& t) { return sdk::vector(t.buffer, t.rows * t.columns, t.offset); };
  const mk_tensor plain = plain_outputs_.vector(outputs.rows * outputs.columns);
  queue_.push_back(ops::bias_act(flat(outputs), {}, ops::Activation::none, plain));
  ops::Augment mirror;
  mirror.horizontal = 1;
  queue_.push_back(ops::augment(data_.inputs(), validation_order_.vector(range.rows, range.first, MK_I32),
                                augment_for(mirror, network_.input), {}, engine_.input(range.rows)));
  engine_.forward(range.rows, nullptr);
  queue_.push_back(ops::gemm(one_.matrix(1, 1), false, plain, false, flat(outputs), 0.5F, 0.5F));
  return outputs;
}

mk_op Training::loss_of(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
                        const mk_tensor& gradient, const LossForm& form) const {
  const mk_tensor target = settings_.standardise_target ? scaled_target_.matrix(data_.rows, 1) : data_.targets();
  return loss_op(settings_.loss, outputs, target, index, scale, rows, gradient, form);
}

// Queues the loss and its gradient for the rows of `outputs`, which begin at place `first` of the epoch's order.
void Training::put_loss(int64_t first, const mk_tensor& outputs) {
  const int64_t rows = outputs.rows;
  LossForm form = settings_.loss_form;
  if (settings_.weighted) form.weight = weights_.vector(data_.rows);
  const double scale = 1.0 / (batch_weight() * position_.batches_of_step());
  const double share = settings_.mixes() ? mixed_share() : 1;
  const mk_tensor results = results_.matrix(rows, 2, 2 * first), gradient = engine_.output_gradient(rows);
  queue_.push_back(loss_of(outputs, order_.vector(rows, first, MK_I32), scale * share, results, gradient, form));
  if (!settings_.mixes()) return;
  const auto of_partners = [&](int64_t from, int64_t count, int64_t place, const mk_tensor& to, const mk_tensor& grad) {
    const mk_tensor some = sdk::matrix(outputs.buffer, count, outputs.columns, outputs.row_stride,
                                       outputs.offset + from * outputs.row_stride);
    return loss_of(some, order_.vector(count, place, MK_I32), scale * (1 - share), to, grad, form);
  };
  mixup_.add_partners(results, gradient, share, first, of_partners, [this](const mk_op& op) { queue_.push_back(op); });
}

// Returns the share of a row in its mixture.
double Training::mixed_share() const {
  if (settings_.cutmix_alpha > 0) return cut_box().share(network_.input);
  return mixup_share(settings_.mixup_alpha, task_.seed, task_.stream, position_.batches_begun());
}

CutBox Training::cut_box() const {
  return cutmix_box(settings_.cutmix_alpha, network_.input, task_.seed, task_.stream, position_.batches_begun());
}

Score Training::score(int64_t first, int64_t rows) const {
  const std::span<const float> weights(epoch_weights_);
  return score(results_, first, rows, settings_.weighted ? weights.subspan(first, rows) : weights);
}

Score Training::score(const Slice& results, int64_t first, int64_t rows, std::span<const float> weights) const {
  const auto phase = device_.phase("transfer");
  std::vector<float> values(2 * rows);
  results.read(device_, values.data(), values.size(), 2 * first);
  const double deviation = moments_.target_deviation, square = deviation * deviation;
  const bool linear = settings_.loss_form.distance.distance == ops::Distance::smooth_l1;
  return sum_up(values, linear ? deviation : square, square, weights);
}

Score Training::recent_score() {
  const int64_t first = shown_batch_ * settings_.batch_size, end = position_.rows_done();
  if (shown_batch_ < position_.batch) {
    shown_batch_ = position_.batch;
    return score(first, end - first);
  }
  // The latest epoch has just ended.
  const std::vector<double>& accuracy = record_.history.train_accuracy;
  const auto n = record_.epochs() == 0 ? 0 : int64_t(task_.train.size());
  return {record_.last_loss(), 0, accuracy.empty() ? 0 : std::llround(accuracy.back() * n), n};
}

const ParameterVector& Training::result() const {
  if (untrained()) return engine_.parameters();
  return record_.rule.restore_best ? engine_.best() : engine_.predicting();
}

std::vector<float> Training::take_parameters() {
  engine_.end_training();
  return parameters_ ? std::move(*parameters_) : result().all();
}

}  // namespace mokume::cnn
