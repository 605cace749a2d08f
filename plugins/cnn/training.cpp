#include "training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "initial.hpp"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

// Mean and deviation (over n, as PyTorch's normalise takes them) of every feature over these rows.
void feature_moments(const mk_data& data, const std::vector<int32_t>& rows, std::vector<float>& mean,
                     std::vector<float>& sd) {
  const auto d = static_cast<size_t>(data.features);
  const auto n = static_cast<double>(rows.size());
  std::vector<double> sum(d, 0.0), square(d, 0.0);
  const auto row = [&](int32_t r) { return data.x + static_cast<size_t>(r) * d; };
  for (const int32_t r : rows)
    for (size_t f = 0; f < d; ++f) sum[f] += static_cast<double>(row(r)[f]);
  for (double& s : sum) s /= n;
  for (const int32_t r : rows)
    for (size_t f = 0; f < d; ++f) {
      const double difference = static_cast<double>(row(r)[f]) - sum[f];
      square[f] += difference * difference;
    }
  mean.assign(sum.begin(), sum.end());
  sd.clear();
  for (const double s : square) sd.push_back(static_cast<float>(std::sqrt(s / n)));
}

// Of one pass. Where a batch is cut into shards, these pass one after the other: what they leave for the way back is
// small enough for caches, and no more than a few of them take room.
int64_t rows_of_pass(const Settings& settings) {
  constexpr int64_t kFew = 64;  // to validate by
  const Parallel& p = settings.parallel;
  if (p.kind == Parallel::Kind::none) return settings.batch_size;
  const int64_t shard =
      p.kind == Parallel::Kind::synchronous ? (settings.batch_size + p.shards - 1) / p.shards : settings.batch_size;
  return std::max(shard, std::min(settings.batch_size, kFew));
}

EngineOptions engine_options(const Settings& settings) {
  EngineOptions options;
  options.gradients = settings.parallel.kind == Parallel::Kind::synchronous;
  if (options.gradients) options.leaves = settings.parallel.shards;
  return options;
}

}  // namespace

ResidentData::ResidentData(const sdk::Device& device, const mk_data& data)
    : host(data), rows(data.rows), features(data.features), classifies(data.n_classes > 0) {
  const auto phase = device.phase("load");
  x = device.buffer<float>(static_cast<uint64_t>(rows * features));
  device.write(x, data.x, static_cast<uint64_t>(rows * features));
  target = device.buffer<float>(static_cast<uint64_t>(rows));
  if (classifies)
    device.write(target, data.labels, static_cast<uint64_t>(rows));
  else
    device.write(target, data.targets, static_cast<uint64_t>(rows));
}

uint64_t ResidentData::bytes(const mk_data& data) {
  return static_cast<uint64_t>(data.rows * (data.features + 1)) * sizeof(float);
}

Score sum_up(const std::vector<float>& results) {
  Score s;
  for (size_t r = 0; r + 1 < results.size(); r += 2) {
    s.loss += static_cast<double>(results[r]);
    s.hits += results[r + 1] > 0 ? 1 : 0;
    ++s.rows;
  }
  if (s.rows > 0) s.loss /= static_cast<double>(s.rows);
  return s;
}

Training::Training(const sdk::Host& host, const sdk::Device& device, const ResidentData& data, const Network& network,
                   const Settings& settings, TrainingTask task, SharedMemory* memory)
    : host_(host),
      device_(device),
      data_(data),
      network_(network),
      settings_(settings),
      task_(std::move(task)),
      engine_(device, network, rows_of_pass(settings), true, settings.optimizer, engine_options(settings), memory),
      dropout_seed_(sdk::Random(task_.seed, sdk::Purpose::dropout, task_.stream).bits64(0)) {
  const auto phase = device.phase("load");
  SharedMemory own(device);
  SharedMemory& from = memory != nullptr ? *memory : own;
  const auto n = std::max(static_cast<int64_t>(task_.train.size()), task_.train_room),
             m = std::max(static_cast<int64_t>(task_.validate.size()), task_.validate_room);
  order_ = from.take(n);
  results_ = from.take(2 * n);
  validation_order_ = from.take(m);
  validation_order_.write(device, task_.validate.data(), task_.validate.size());
  validation_results_ = from.take(2 * m);
  if (settings_.standardise_target) scaled_target_ = from.take(data_.rows);
  initialise();
  engine_.put_ops(&queue_);
}

uint64_t Training::bytes(const Network& network, const Settings& settings, int64_t rows) {
  // Of every row its place in an order, loss and hit, and perhaps a scaled target.
  const int64_t words = rows * (settings.standardise_target ? 4 : 3);
  return static_cast<uint64_t>(words) * 4 +
         Engine::bytes(network, rows_of_pass(settings), true, settings.optimizer, engine_options(settings));
}

void Training::scale_target() {
  std::vector<float> target(data_.host.targets, data_.host.targets + data_.rows);
  double sum = 0, square = 0;
  for (const int32_t r : task_.train) sum += static_cast<double>(target[static_cast<size_t>(r)]);
  const auto n = static_cast<double>(task_.train.size());
  target_mean_ = sum / n;
  for (const int32_t r : task_.train) {
    const double off = static_cast<double>(target[static_cast<size_t>(r)]) - target_mean_;
    square += off * off;
  }
  target_deviation_ = square > 0 ? std::sqrt(square / n) : 1;
  for (float& t : target) t = static_cast<float>((static_cast<double>(t) - target_mean_) / target_deviation_);
  scaled_target_.write(device_, target.data(), target.size());
}

Score Training::sum_up(const std::vector<float>& results) const {
  Score s = cnn::sum_up(results);
  s.loss *= target_deviation_ * target_deviation_;
  return s;
}

void Training::initialise() {
  if (settings_.standardise_target) scale_target();
  write_initial_values(host_, network_, task_.seed, task_.stream, engine_.parameters());
  if (network_.stages.front().kind != Stage::Kind::normalise || !network_.stages.front().normalise.per_feature) return;
  feature_moments(data_.host, task_.train, feature_mean_, feature_sd_);
  engine_.set_normalisation(feature_mean_, feature_sd_);
}

int64_t Training::batches() const {
  const auto n = static_cast<int64_t>(task_.train.size());
  return settings_.drop_last ? n / settings_.batch_size : (n + settings_.batch_size - 1) / settings_.batch_size;
}

void Training::restore() {
  const auto phase = device_.phase("checkpoint");
  const auto found = find_checkpoint(host_, task_.scratch, task_.fingerprint, engine_);
  if (!found) return;
  const Checkpoint& c = found->checkpoint;
  if (c.epoch < 0 || c.epoch >= settings_.epochs || c.batch < 0 || c.batch >= batches() ||
      c.batch_size != settings_.batch_size ||
      c.results.size() != static_cast<size_t>(2 * c.batch * settings_.batch_size) ||
      c.history.train_loss.size() != static_cast<size_t>(c.epoch))
    return;
  epoch_ = c.epoch;
  batch_ = c.batch;
  history_ = c.history;
  found->read_into(engine_);
  results_.write(device_, c.results.data(), c.results.size());
}

void Training::save() {
  if (task_.scratch.empty()) return;
  const auto phase = device_.phase("checkpoint");
  Checkpoint c;
  c.fingerprint = task_.fingerprint;
  c.epoch = epoch_;
  c.batch = batch_;
  c.batch_size = settings_.batch_size;
  c.history = history_;
  c.results.resize(static_cast<size_t>(2 * batch_ * settings_.batch_size));
  results_.read(device_, c.results.data(), c.results.size());
  save_checkpoint(task_.scratch, c, engine_);
}

bool Training::at_end() const { return epoch_ >= settings_.epochs || diverged_ || stopped_; }

void Training::begin_epoch() {
  const auto phase = device_.phase("load");
  std::vector<int32_t> order = task_.train;
  if (settings_.shuffle) {
    const sdk::Random random(task_.seed, sdk::Purpose::batches, task_.stream, static_cast<uint32_t>(epoch_));
    for (size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[random.below(static_cast<uint32_t>(k - 1), k)]);
  }
  order_.write(device_, order.data(), order.size());
  shown_batch_ = batch_;
}

void Training::end_epoch() {
  batch_ = 0;
  ++epoch_;
  const auto n = static_cast<int64_t>(task_.train.size());
  const Score trained = score(0, std::min(n, batches() * settings_.batch_size));
  if (!std::isfinite(trained.loss)) return diverge();
  history_.train_loss.push_back(trained.loss);
  if (data_.classifies) history_.train_accuracy.push_back(trained.accuracy());
}

// The epoch's curves say that, wherever in the epoch it was noticed.
void Training::diverge() {
  if (!at_start_of_epoch()) batch_ = 0, ++epoch_;
  history_.train_loss.push_back(std::numeric_limits<double>::quiet_NaN());
  if (data_.classifies) history_.train_accuracy.push_back(std::numeric_limits<double>::quiet_NaN());
  diverged_ = true;
}

void Training::end_validation() {
  if (!diverged_ && !task_.validate.empty()) {
    std::vector<float> results(2 * task_.validate.size());
    validation_results_.read(device_, results.data(), results.size());
    validation_ = sum_up(results);
    history_.validation_loss.push_back(validation_.loss);
    diverged_ = !std::isfinite(validation_.loss);  // by the last steps of the epoch
    if (data_.classifies) history_.validation_accuracy.push_back(validation_.accuracy());
  }
  stopped_ = !diverged_ && stops();
}

const char* Training::name(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "load";
    case Phase::forward:
      return "forward";
    case Phase::backward:  // and the steps of the layers that take theirs on the way
      return "backward";
    case Phase::step:
      return "step";
  }
  return "";
}

int64_t Training::rows_of_batch() const {
  return std::min(settings_.batch_size, static_cast<int64_t>(task_.train.size()) - batch_ * settings_.batch_size);
}

int64_t Training::rows_done() const {
  return std::min(batch_ * settings_.batch_size, static_cast<int64_t>(task_.train.size()));
}

ops::DropoutPlace Training::dropout_place(int64_t first_row) const {
  return {dropout_seed_, 0, static_cast<uint32_t>(epoch_ * batches() + batch_), first_row};
}

void Training::put(Phase phase, const RowRange& part) {
  const int64_t first = batch_ * settings_.batch_size + part.first, rows = part.rows;
  const mk_tensor index = order_.vector(rows, first, MK_I32);
  const int64_t steps = (batches() + workers_ - 1) / workers_,
                step = epoch_ * steps + std::min(step_.value_or(batch_ / workers_), steps - 1);
  ops::OptimizerSettings now = settings_.optimizer;
  now.lr = learning_rate(settings_.schedule, now.lr, step, steps, settings_.epochs);
  const ops::DropoutPlace place = dropout_place(part.first);
  if (phase == Phase::load || queued_rows_.empty()) queued_rows_.push_back(rows);
  switch (phase) {
    case Phase::load:
      queue_.push_back(ops::gather_rows(data_.inputs(), index, engine_.input(rows)));
      return;
    case Phase::forward: {
      const mk_tensor outputs = engine_.forward(rows, &place);
      queue_.push_back(loss(outputs, index, 1.0 / static_cast<double>(rows_of_batch()),
                            results_.matrix(rows, 2, 2 * first), engine_.output_gradient(rows)));
      return;
    }
    case Phase::backward:
      return engine_.train_back(rows, place, now, step + 1);
    case Phase::step:
      return engine_.step(now, step + 1);
  }
}

void Training::backward(const RowRange& part, const ParameterVector& to, std::span<const Engine::Add> adds,
                        const std::function<void(const Stage&)>& summed) {
  engine_.put_ops(nullptr);
  engine_.backward(part.rows, dropout_place(part.first), to, adds, summed);
  engine_.put_ops(&queue_);
}

void Training::clear_queue() {
  queue_.clear();
  queued_rows_.clear();
}

int64_t Training::validation_batches() const {
  return diverged_ ? 0 : (validation_rows() + engine_.batch() - 1) / engine_.batch();
}

RowRange Training::validation_range(int64_t k) const {
  const int64_t first = k * engine_.batch();
  return {first, std::min(engine_.batch(), validation_rows() - first)};
}

bool Training::put_validation(int64_t k) {
  if (k >= validation_batches()) return false;
  const auto [first, rows] = validation_range(k);
  queued_rows_.push_back(rows);
  const mk_tensor index = validation_order_.vector(rows, first, MK_I32);
  queue_.push_back(ops::gather_rows(data_.inputs(), index, engine_.input(rows)));
  const mk_tensor outputs = engine_.forward(rows, nullptr);
  queue_.push_back(loss(outputs, index, 1, validation_results_.matrix(rows, 2, 2 * first), {}));
  return true;
}

mk_op Training::loss(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
                     const mk_tensor& gradient) const {
  if (data_.classifies)
    return ops::softmax_loss(outputs, sdk::vector(data_.target.get(), data_.rows, 0, MK_I32), index, scale, rows,
                             gradient);
  const mk_tensor target = settings_.standardise_target ? scaled_target_.matrix(data_.rows, 1)
                                                        : sdk::matrix(data_.target.get(), data_.rows, 1);
  return ops::squared_loss(outputs, target, index, scale, rows, gradient);
}

Score Training::score(int64_t first, int64_t rows) const {
  const auto phase = device_.phase("transfer");
  std::vector<float> results(static_cast<size_t>(2 * rows));
  results_.read(device_, results.data(), results.size(), static_cast<uint64_t>(2 * first));
  return sum_up(results);
}

std::vector<float> Training::take_parameters() {
  engine_.end_training();
  return engine_.parameters().all();
}

namespace {

bool same(const Stage& a, const Stage& b) {
  const auto shape = [](const Shape& s) { return std::array{s.height, s.width, s.channels}; };
  const auto window = [](const ops::Window& w) {
    return std::array{w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.pad_h, w.pad_w};
  };
  return a.kind == b.kind && shape(a.in) == shape(b.in) && shape(a.out) == shape(b.out) &&
         window(a.window) == window(b.window) && a.activation == b.activation && (a.bias < 0) == (b.bias < 0) &&
         a.normalise.per_feature == b.normalise.per_feature;
}

}  // namespace

bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings) {
  const ops::OptimizerSettings &x = a_settings.optimizer, &y = b_settings.optimizer;
  return a_settings.batch_size == b_settings.batch_size && a_settings.loss == b_settings.loss &&
         a_settings.standardise_target == b_settings.standardise_target && x.kind == y.kind &&
         x.states() == y.states() && a.stages.size() == b.stages.size() &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), same);
}

bool Training::stops() const {
  const std::vector<double>& train = history_.train_loss;
  switch (settings_.stop.kind) {
    case StopRule::Kind::none:
      return false;
    case StopRule::Kind::ratio:
      return train.size() > 1 && train.back() > settings_.stop.ratio * train[train.size() - 2];
    case StopRule::Kind::plateau: {
      const std::vector<double>& loss = history_.validation_loss.empty() ? train : history_.validation_loss;
      const auto patience = static_cast<size_t>(settings_.stop.patience);
      if (loss.size() <= patience) return false;
      const auto recent = loss.end() - static_cast<std::ptrdiff_t>(patience);
      return *std::min_element(recent, loss.end()) >=
             *std::min_element(loss.begin(), recent) - settings_.stop.min_delta;
    }
  }
  return false;
}

Score Training::recent_score() {
  if (shown_batch_ >= batch_) {  // an epoch has just ended
    const std::vector<double>& loss = history_.train_loss;
    const auto n = static_cast<int64_t>(loss.empty() ? 0 : task_.train.size());
    const double right = history_.train_accuracy.empty() ? 0 : history_.train_accuracy.back();
    return {loss.empty() ? 0 : loss.back(), std::llround(right * static_cast<double>(n)), n};
  }
  const int64_t first = shown_batch_ * settings_.batch_size;
  const int64_t end = std::min(batch_ * settings_.batch_size, static_cast<int64_t>(task_.train.size()));
  shown_batch_ = batch_;
  return score(first, end - first);
}

double Training::share_done() const {
  const double epochs = static_cast<double>(epoch_) + static_cast<double>(batch_) / static_cast<double>(batches());
  return at_end() ? 1 : epochs / static_cast<double>(settings_.epochs);
}

}  // namespace mokume::cnn
