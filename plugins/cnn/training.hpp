// Training one network: epochs of batches over rows that are resident on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "engine.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

// Every row of an experiment in the device's memory.
struct ResidentData {
  // `data` must outlive it.
  ResidentData(const sdk::Device& device, const mk_data& data);
  // Bytes of device memory that it takes.
  static uint64_t bytes(const mk_data& data);

  const mk_data& host;
  int64_t rows, features;
  bool classifies;
  sdk::Buffer x;       // rows x features
  sdk::Buffer target;  // labels (i32) or targets (f32), one per row

  mk_tensor inputs() const { return sdk::matrix(x.get(), rows, features); }
};

// Loss and hits over some rows, summed in double in the order of the rows.
struct Score {
  double loss = 0;  // mean
  int64_t hits = 0;
  int64_t rows = 0;

  double accuracy() const { return rows == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(rows); }
};

// Rows of a batch, or of the validation.
struct RowRange {
  int64_t first = 0, rows = 0;
};

struct TrainingTask {
  uint64_t seed = 0;
  uint32_t stream = 0;  // of the experiment's random numbers: another for every fit
  std::vector<int32_t> train, validate;
  std::string scratch;      // a directory for checkpoints; "": none are written
  std::string fingerprint;  // says which fit a checkpoint belongs to
  // The most rows of any training that shares its memory; 0: its own.
  int64_t train_room = 0, validate_room = 0;
};

class Training;

// Trains networks of one shape (see same_shape()) side by side until each has reached its end: one batch of each by
// turns, ops of the same place as one group. Each gets the bits that it gets alone. `ended` is called for each as it
// ends. Error(MK_CANCELLED) when the sink says so, with a checkpoint of each that has not ended.
void train_together(const sdk::Device& device, std::span<Training* const> members, const mk_fit_sink& sink,
                    const std::function<void(Training&)>& ended);

// Up to `most` batches of each, within the epoch in work; returns how many. For measurements.
int64_t run_batches(const sdk::Device& device, std::span<Training* const> members, int64_t most);

// Whether networks may share memory and ops: everything but their numbers and the length of their training is equal.
bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings);

class Training {
 public:
  // All references must outlive it. `memory`: what it shares with others of its shape, or nullptr.
  Training(const sdk::Host& host, const sdk::Device& device, const ResidentData& data, const Network& network,
           const Settings& settings, TrainingTask task, SharedMemory* memory = nullptr);

  // Bytes of device memory that a training takes which learns from or is validated on each of `rows` rows, beside
  // these.
  static uint64_t bytes(const Network& network, const Settings& settings, int64_t rows);

  // Goes on from the fit's checkpoint if there is a good one, and leaves one when it is cancelled. Runs to the end, the
  // stop rule, or the first loss that is no finite number: diverged(). Error(MK_CANCELLED) when the sink says so.
  void run(const mk_fit_sink& sink);
  // One epoch of it.
  void run_epoch();

  bool diverged() const { return diverged_; }
  const History& history() const { return history_; }
  const Score& validation() const { return validation_; }  // of the last epoch
  int64_t epochs_done() const { return static_cast<int64_t>(history_.train_loss.size()); }
  // Of the rows at places [first, first + rows) of the epoch that ran last.
  Score score(int64_t first, int64_t rows) const;
  const Engine& engine() const { return engine_; }
  // All parameters in the network's own order. The last thing a training does: what only steps need is given back
  // first, so that the copy finds room where the device's memory is the host's.
  std::vector<float> take_parameters();
  // Of a first layer that normalises every feature; else empty.
  const std::vector<float>& feature_mean() const { return feature_mean_; }
  const std::vector<float>& feature_sd() const { return feature_sd_; }
  // What the network's output stands for: target = output * deviation + mean.
  double target_mean() const { return target_mean_; }
  double target_deviation() const { return target_deviation_; }

  // ---- what train_together() is made of ----

  // What is put into queue(), in this order, for one batch.
  enum class Phase { load, forward, backward, step };
  static constexpr Phase kPhases[] = {Phase::load, Phase::forward, Phase::backward, Phase::step};
  static const char* name(Phase phase);

  void restore();
  void save();
  // Whether there is nothing left to train.
  bool at_end() const;
  void begin_epoch();
  bool at_end_of_epoch() const { return batch_ == batches(); }
  bool at_start_of_epoch() const { return batch_ == 0; }
  void put(Phase phase) { put(phase, {0, rows_of_batch()}); }
  void end_batch() { ++batch_; }
  // Puts batch k of the validation into queue(), if there is one.
  bool put_validation(int64_t k);
  // Behind the last batch, when all that was queued is done.
  void end_epoch();
  void end_validation();
  std::vector<mk_op>& queue() { return queue_; }
  // Of the batches in queue(): where these agree, ops do in shape.
  const std::vector<int64_t>& queued_rows() const { return queued_rows_; }
  void clear_queue();

  // ---- what TeamTraining needs beside ----

  const Network& network() const { return network_; }
  int64_t batches() const;                  // of an epoch
  int64_t epoch() const { return epoch_; }  // in work
  int64_t batch() const { return batch_; }  // in work
  int64_t batch_size() const { return settings_.batch_size; }
  int64_t rows_of_batch() const;
  void go_to(int64_t epoch, int64_t batch) { epoch_ = epoch, batch_ = batch; }
  // A part of the batch, whose backward phase is backward(), which puts nothing into queue(): its ops go to the device.
  void put(Phase phase, const RowRange& rows);
  void backward(const RowRange& rows, const ParameterVector& to, std::span<const Engine::Add> adds,
                const std::function<void(const Stage&)>& summed);
  // Steps count as those of one of so many, each of which takes some of the batches.
  void share_steps(int64_t workers) { workers_ = workers; }
  void set_step(int64_t of_epoch) { step_ = of_epoch; }  // of the batch in work, where it is not one after the other
  int64_t validation_batches() const;
  RowRange validation_range(int64_t k) const;  // rows of batch k
  // Loss and hit of each row, by its place in the epoch, or in the validation.
  const Slice& results() const { return results_; }
  const Slice& validation_results() const { return validation_results_; }
  int64_t validation_rows() const { return static_cast<int64_t>(task_.validate.size()); }
  int64_t rows_done() const;  // of this epoch
  bool stopped() const { return stopped_; }
  void set_stopped(bool stopped) { stopped_ = stopped; }

  // Losses and hits since the last call, or of the last epoch where none has begun: for the progress line.
  Score recent_score();
  int64_t rows_trained() const { return epoch_ * static_cast<int64_t>(task_.train.size()) + rows_done(); }
  // It is at its end: a loss is no finite number.
  void diverge();
  int64_t epochs() const { return settings_.epochs; }
  bool classifies() const { return data_.classifies; }
  double share_done() const;

 private:
  ops::DropoutPlace dropout_place(int64_t first_row) const;
  void initialise();
  void scale_target();
  Score sum_up(const std::vector<float>& results) const;
  bool stops() const;
  mk_op loss(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
             const mk_tensor& gradient) const;

  sdk::Host host_;
  const sdk::Device& device_;
  const ResidentData& data_;
  const Network& network_;
  Settings settings_;
  TrainingTask task_;
  Engine engine_;
  uint64_t dropout_seed_;
  Slice order_, results_;  // of the epoch: rows in order, loss and hit of each
  Slice validation_order_, validation_results_;
  std::vector<mk_op> queue_;
  std::vector<int64_t> queued_rows_;
  int64_t epoch_ = 0, batch_ = 0;  // in work
  int64_t workers_ = 1;
  std::optional<int64_t> step_;
  History history_;
  Score validation_;
  bool diverged_ = false, stopped_ = false;
  std::vector<float> feature_mean_, feature_sd_;
  double target_mean_ = 0, target_deviation_ = 1;
  Slice scaled_target_;  // of standardise_target
  int64_t shown_batch_ = 0;
};

// Loss and hits of `rows` rows from what the loss ops wrote: B x 2.
Score sum_up(const std::vector<float>& results);

}  // namespace mokume::cnn
