// Trains one network in epochs of batches over rows on the device. stacked.hpp and team_training.hpp drive this class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data.hpp"
#include "engine.hpp"
#include "sdk/plugin.hpp"
#include "train/checkpoint.hpp"
#include "train/mixup.hpp"
#include "train/position.hpp"
#include "train/record.hpp"

namespace mokume::cnn {

class Start;

struct TrainingTask {
  uint64_t seed = 0;
  uint32_t stream = 0;  // stream of the experiment's random numbers, unique to the fit
  std::vector<int32_t> train, validate;
  std::string scratch;         // directory for checkpoints; "" means no checkpoints
  std::string fingerprint;     // identifies the fit of a checkpoint
  std::string_view start;      // content of the file named by Settings::start
  std::vector<float> weights;  // weight of each row of the data in training; empty if all are 1
  Part part = {};              // part of the network that this device trains
  // The stack needs room for these numbers of rows. 0 means the numbers of this task.
  int64_t train_room = 0, validate_room = 0;
};

class Training {
 public:
  // All references must outlive the object. `memory` belongs to the stack; it is null if the network trains alone.
  Training(const sdk::Host& host, const sdk::Device& device, const ResidentData& data, const Network& network,
           const Settings& settings, TrainingTask task, StackMemory* memory = nullptr);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // Returns the bytes of device memory for training a part of the network with `rows` rows, all of which may be used
  // for training or validation. Excludes the rows themselves.
  static uint64_t bytes(const Network& network, const Settings& settings, int64_t rows, const Part& part = {});

  // Returns the bytes of the largest buffer other than those of parameters.
  static uint64_t largest_buffer(const Network& network, const Settings& settings, const Part& part);

  const sdk::Device& device() const { return device_; }
  const Network& network() const { return network_; }
  const Settings& settings() const { return settings_; }
  const Engine& engine() const { return engine_; }
  Engine& engine() { return engine_; }
  const Moments& moments() const { return moments_; }
  Position& position() { return position_; }
  const Position& position() const { return position_; }
  Record& record() { return record_; }
  const Record& record() const { return record_; }

  // Read and write the fit's checkpoint. Do nothing without a scratch directory; restore() ignores an invalid file.
  void restore();
  void save() { save(read_own); }
  // Do the same for a part of a network. find() leaves the engine's state to the caller, and save() calls `read` for
  // chunks of the vectors of Engine::state().
  bool keeps_checkpoints() const { return !task_.scratch.empty(); }
  std::optional<StoredCheckpoint> find();
  void save(const ReadState& read);
  bool at_end() const { return position_.epoch >= settings_.last_epoch() || record_.diverged || record_.stopped; }
  bool untrained() const { return settings_.epochs == 0; }  // whether the start is only validated
  double share_done() const { return at_end() ? 1 : position_.share_done(); }

  void begin_epoch();
  // The ops of a batch come in this order.
  enum class Phase { load, forward, backward, step };
  static constexpr Phase kPhases[] = {Phase::load, Phase::forward, Phase::backward, Phase::step};
  static const char* name(Phase phase);
  void put(Phase phase) { put(phase, {0, position_.range().rows}); }
  // Queues the ops of a phase for the given rows of the batch. A part of a network without its input loads nothing, and
  // one without its output has no loss.
  void put(Phase phase, const RowRange& rows);
  // Runs the backward phase for the given rows, and submits its ops at once. See Engine::backward().
  void backward(const RowRange& rows, const ParameterVector& to, std::span<const Engine::Add> adds,
                const Engine::Summed& summed);
  // Ends the epoch after its last batch, when the device has completed all queued ops. Validation follows.
  void end_epoch();
  int64_t validation_batches() const;
  int64_t validation_rows() const { return task_.validate.size(); }
  std::span<const int32_t> validated() const { return task_.validate; }
  RowRange validation_range(int64_t k) const;  // rows of batch k
  void put_validation(int64_t k) {
    load_validation(k);
    validate(k);
  }
  void load_validation(int64_t k);
  void validate(int64_t k);
  void end_validation();
  // Keeps the parameters of the latest epoch. Callers use this after end_validation() if record().is_best().
  void keep_best();
  // Ends training because a loss within the epoch is not finite.
  void diverge();

  // Returns the ops that are not submitted yet.
  std::vector<mk_op>& queue() { return queue_; }
  // Identifies the batches in queue() by their rows and by the handling of gradients, if some batches take no step. Two
  // objects with equal lists have ops of equal shapes.
  const std::vector<int64_t>& queued_rows() const { return queued_rows_; }
  void clear_queue();

  // Return the loss and hit of each row, in the order of the epoch or of validation.
  const Slice& results() const { return results_; }
  const Slice& validation_results() const { return validation_results_; }
  // Returns the score of rows [first, first + rows) of the latest epoch.
  Score score(int64_t first, int64_t rows) const;
  // Returns the score since the last call, or of the last epoch if no batch followed, for the progress line.
  Score recent_score();

  // Returns all parameters in the network's own order. This must be the last call, because it first releases the memory
  // that only steps need, so that the copy finds room if the device uses the host's memory.
  std::vector<float> take_parameters();
  // Lets take_parameters() return these, because the engine has only a part of them.
  void set_parameters(std::vector<float> all) { parameters_ = std::move(all); }
  // Returns the vector of the engine that holds the result of training.
  const ParameterVector& result() const;

 private:
  void begin_with(const Start& start);
  void scale_target();
  Score score(const Slice& results, int64_t first, int64_t rows, std::span<const float> weights) const;
  double batch_weight() const;
  double mixed_share() const;
  CutBox cut_box() const;
  mk_op loss_of(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
                const mk_tensor& gradient, const LossForm& form) const;
  void put_loss(int64_t first, const mk_tensor& outputs);
  mk_tensor predict_validation(const RowRange& range);

  sdk::Host host_;
  const sdk::Device& device_;
  const ResidentData& data_;
  const Network& network_;
  const Settings settings_;
  const TrainingTask task_;
  Engine engine_;
  Position position_;
  Record record_;
  Moments moments_;
  uint64_t dropout_seed_, augment_seed_;
  Mixup mixup_;
  ops::Augment augment_;   // changes to training batches
  Slice order_, results_;  // order and results of the epoch
  Slice validation_order_, validation_results_;
  Slice plain_outputs_, one_;         // the outputs for images that are not mirrored, and a one; only with mirrors
  Slice scaled_target_;               // only with standardise_target
  Slice weights_;                     // weights of the rows of the data; only with task_.weights
  std::vector<float> epoch_weights_;  // weights in the order of the epoch
  std::vector<mk_op> queue_;
  std::vector<int64_t> queued_rows_;
  int64_t shown_batch_ = 0;
  std::optional<std::vector<float>> parameters_;
};

}  // namespace mokume::cnn
