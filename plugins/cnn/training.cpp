#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "initial.hpp"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

constexpr double kShowSeconds = 0.5;
constexpr double kSaveSeconds = 60;  // between checkpoints, and at least kSaveShare times what one takes
constexpr double kSaveShare = 20;
constexpr int64_t kBatchesInFlight = 8;  // queued before the device is waited for: bounds the time to a cancel

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
                   const Settings& settings, TrainingTask task)
    : device_(device),
      data_(data),
      network_(network),
      settings_(settings),
      task_(std::move(task)),
      engine_(device, network, settings.batch_size, true, settings.optimizer, {false}),
      dropout_seed_(sdk::Random(task_.seed, sdk::Purpose::dropout, task_.stream).bits64(0)),
      save_interval_(kSaveSeconds) {
  const auto phase = device.phase("load");
  const uint64_t n = task_.train.size(), m = task_.validate.size();
  order_ = device.buffer<int32_t>(n);
  results_ = device.buffer<float>(2 * n);
  validation_order_ = device.upload(task_.validate);
  validation_results_ = device.buffer<float>(2 * m);
  initialise(host);
}

uint64_t Training::bytes(const Network& network, const Settings& settings, int64_t rows) {
  // Of every row its place in an order, loss and hit, and perhaps a scaled target.
  const int64_t words = rows * (settings.standardise_target ? 4 : 3);
  return static_cast<uint64_t>(words) * 4 +
         Engine::bytes(network, settings.batch_size, true, settings.optimizer, {false});
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
  scaled_target_ = device_.upload(target);
}

Score Training::sum_up(const std::vector<float>& results) const {
  Score s = cnn::sum_up(results);
  s.loss *= target_deviation_ * target_deviation_;
  return s;
}

void Training::initialise(const sdk::Host& host) {
  if (settings_.standardise_target) scale_target();
  write_initial_values(host, network_, task_.seed, task_.stream, engine_.parameters());
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
  const auto found = find_checkpoint(task_.scratch, task_.fingerprint, engine_);
  if (!found) return;
  const Checkpoint& c = found->checkpoint;
  if (c.epoch < 0 || c.epoch >= settings_.epochs || c.batch < 0 || c.batch >= batches() ||
      c.results.size() != static_cast<size_t>(2 * c.batch * settings_.batch_size) ||
      c.history.train_loss.size() != static_cast<size_t>(c.epoch))
    return;
  epoch_ = c.epoch;
  batch_ = c.batch;
  history_ = c.history;
  found->read_into(engine_);
  device_.write(results_, c.results.data(), c.results.size());
}

void Training::save() {
  if (task_.scratch.empty()) return;
  const auto phase = device_.phase("checkpoint");
  const double start = now_s();
  Checkpoint c;
  c.fingerprint = task_.fingerprint;
  c.epoch = epoch_;
  c.batch = batch_;
  c.history = history_;
  c.results.resize(static_cast<size_t>(2 * batch_ * settings_.batch_size));
  device_.read(results_, c.results.data(), c.results.size());
  save_checkpoint(task_.scratch, c, engine_);
  saved_at_ = now_s();
  save_interval_ = std::max(kSaveSeconds, kSaveShare * (saved_at_ - start));
}

void Training::run(const mk_fit_sink& sink) {
  restore();
  saved_at_ = now_s();
  while (epoch_ < settings_.epochs && !diverged_) {
    run_epoch(sink);
    if (!diverged_ && stops()) break;
    // Epochs of so few batches that within none of them it was time to.
    if (unheeded_ < kBatchesInFlight || epoch_ == settings_.epochs || diverged_) continue;
    heed(sink);
    show_epoch(sink);
  }
}

// Everything queued is done.
void Training::heed(const mk_fit_sink& sink) {
  unheeded_ = 0;
  const bool cancelled = sink.cancelled(sink.self) != 0;
  if (cancelled || now_s() - saved_at_ > save_interval_) save();
  if (cancelled) throw Error(MK_CANCELLED, "stopped");
}

void Training::begin_epoch() {
  const auto phase = device_.phase("load");
  std::vector<int32_t> order = task_.train;
  if (settings_.shuffle) {
    const sdk::Random random(task_.seed, sdk::Purpose::batches, task_.stream, static_cast<uint32_t>(epoch_));
    for (size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[random.below(static_cast<uint32_t>(k - 1), k)]);
  }
  device_.write(order_, order.data(), order.size());
}

int64_t Training::run_batches(int64_t most) {
  if (batch_ == 0) begin_epoch();
  const int64_t end = std::min(batch_ + most, batches()), count = end - batch_;
  for (; batch_ < end; ++batch_) run_batch(batch_);
  device_.finish();
  if (batch_ == batches()) batch_ = 0, ++epoch_;
  return count;
}

void Training::run_epoch(const mk_fit_sink& sink) {
  begin_epoch();
  shown_at_ = now_s();
  shown_batch_ = batch_;
  const int64_t count = batches();
  while (batch_ < count) {
    run_batch(batch_++);
    ++unheeded_;
    if (batch_ % kBatchesInFlight != 0 || batch_ == count) continue;
    device_.finish();
    heed(sink);
    if (now_s() - shown_at_ > kShowSeconds) show(sink, batch_);
  }
  batch_ = 0;
  ++epoch_;
  const auto n = static_cast<int64_t>(task_.train.size());
  const Score trained = score(0, std::min(n, count * settings_.batch_size));
  history_.train_loss.push_back(trained.loss);
  if (data_.classifies) history_.train_accuracy.push_back(trained.accuracy());
  diverged_ = !std::isfinite(trained.loss);
  if (diverged_ || task_.validate.empty()) return;
  validation_ = validate();
  history_.validation_loss.push_back(validation_.loss);
  if (data_.classifies) history_.validation_accuracy.push_back(validation_.accuracy());
}

void Training::run_batch(int64_t batch) {
  const int64_t first = batch * settings_.batch_size, step = epoch_ * batches() + batch;
  const int64_t rows = std::min(settings_.batch_size, static_cast<int64_t>(task_.train.size()) - first);
  const mk_tensor index = sdk::vector(order_.get(), rows, first, MK_I32);
  const ops::DropoutPlace place{dropout_seed_, 0, static_cast<uint32_t>(step), 0};
  {
    const auto phase = device_.phase("load");
    device_.submit(ops::gather_rows(data_.inputs(), index, engine_.input(rows)));
  }
  {
    const auto phase = device_.phase("forward");
    const mk_tensor outputs = engine_.forward(rows, &place);
    device_.submit(loss(outputs, index, 1.0 / static_cast<double>(rows),
                        sdk::matrix(results_.get(), rows, 2, 0, 2 * first), engine_.output_gradient(rows)));
  }
  ops::OptimizerSettings now = settings_.optimizer;
  now.lr = learning_rate(settings_.schedule, now.lr, step, batches(), settings_.epochs);
  engine_.train(rows, place, now, step + 1);
}

mk_op Training::loss(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
                     const mk_tensor& gradient) const {
  if (data_.classifies)
    return ops::softmax_loss(outputs, sdk::vector(data_.target.get(), data_.rows, 0, MK_I32), index, scale, rows,
                             gradient);
  const sdk::Buffer& target = settings_.standardise_target ? scaled_target_ : data_.target;
  return ops::squared_loss(outputs, sdk::matrix(target.get(), data_.rows, 1), index, scale, rows, gradient);
}

Score Training::score(int64_t first, int64_t rows) const {
  const auto phase = device_.phase("transfer");
  std::vector<float> results(static_cast<size_t>(2 * rows));
  device_.read(results_, results.data(), results.size(), static_cast<uint64_t>(2 * first));
  return sum_up(results);
}

Score Training::validate() const {
  const auto phase = device_.phase("validate");
  const auto n = static_cast<int64_t>(task_.validate.size());
  for (int64_t first = 0; first < n; first += engine_.batch()) {
    const int64_t rows = std::min(engine_.batch(), n - first);
    const mk_tensor index = sdk::vector(validation_order_.get(), rows, first, MK_I32);
    device_.submit(ops::gather_rows(data_.inputs(), index, engine_.input(rows)));
    const mk_tensor outputs = engine_.forward(rows, nullptr);
    device_.submit(loss(outputs, index, 1, sdk::matrix(validation_results_.get(), rows, 2, 0, 2 * first), {}));
  }
  std::vector<float> results(static_cast<size_t>(2 * n));
  device_.read(validation_results_, results.data(), results.size());
  return sum_up(results);
}

std::vector<float> Training::take_parameters() {
  engine_.end_training();
  return engine_.parameters().all();
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

void Training::show_epoch(const mk_fit_sink& sink) const {
  const auto done = static_cast<long long>(epoch_), all = static_cast<long long>(settings_.epochs);
  char text[80];
  std::snprintf(&text[0], sizeof(text), "epoch %lld/%lld: loss %.4g", done, all, history_.train_loss.back());
  sink.progress(sink.self, &text[0], static_cast<double>(epoch_) / static_cast<double>(settings_.epochs));
}

void Training::show(const mk_fit_sink& sink, int64_t batch) {
  const int64_t end = std::min(batch * settings_.batch_size, static_cast<int64_t>(task_.train.size()));
  const int64_t rows = end - shown_batch_ * settings_.batch_size;
  const Score recent = score(shown_batch_ * settings_.batch_size, rows);
  const double now = now_s();
  char text[160];
  char accuracy[32] = "";
  if (data_.classifies) std::snprintf(&accuracy[0], sizeof(accuracy), ", %.1f %% right", 100 * recent.accuracy());
  std::snprintf(&text[0], sizeof(text), "epoch %lld/%lld: loss %.4g%s, %.0f rows/s", static_cast<long long>(epoch_ + 1),
                static_cast<long long>(settings_.epochs), recent.loss, &accuracy[0],
                static_cast<double>(rows) / (now - shown_at_));
  const double done = static_cast<double>(epoch_) + static_cast<double>(batch) / static_cast<double>(batches());
  sink.progress(sink.self, &text[0], done / static_cast<double>(settings_.epochs));
  shown_at_ = now;
  shown_batch_ = batch;
}

}  // namespace mokume::cnn
