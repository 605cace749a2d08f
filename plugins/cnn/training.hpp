// Training one network: epochs of batches over rows that are resident on the device. stacked.hpp and team_training.hpp
// drive it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data.hpp"
#include "engine.hpp"
#include "position.hpp"
#include "record.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

struct TrainingTask {
  uint64_t seed = 0;
  uint32_t stream = 0;  // of the experiment's random numbers: another for every fit
  std::vector<int32_t> train, validate;
  std::string scratch;      // a directory for checkpoints; "": none are written
  std::string fingerprint;  // says which fit a checkpoint belongs to
  // The most rows of any training of its stack; 0: its own.
  int64_t train_room = 0, validate_room = 0;
};

class Training {
 public:
  // All references must outlive it. `memory`: that of its stack, or nullptr.
  Training(const sdk::Host& host, const sdk::Device& device, const ResidentData& data, const Network& network,
           const Settings& settings, TrainingTask task, StackMemory* memory = nullptr);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // Bytes of device memory that a training takes which learns from or is validated on each of `rows` rows, in addition
  // to these.
  static uint64_t bytes(const Network& network, const Settings& settings, int64_t rows);

  const sdk::Device& device() const { return device_; }
  const Network& network() const { return network_; }
  const Settings& settings() const { return settings_; }
  const Engine& engine() const { return engine_; }
  const Moments& moments() const { return moments_; }
  Position& position() { return position_; }
  const Position& position() const { return position_; }
  Record& record() { return record_; }
  const Record& record() const { return record_; }

  // From and to the fit's checkpoint, if there is a good one, and a place for it.
  void restore();
  void save();
  // Whether there is nothing left to train.
  bool at_end() const { return position_.epoch >= settings_.epochs || record_.diverged || record_.stopped; }
  double share_done() const { return at_end() ? 1 : position_.share_done(); }

  void begin_epoch();
  // Ops of a batch, in this order.
  enum class Phase { load, forward, backward, step };
  static constexpr Phase kPhases[] = {Phase::load, Phase::forward, Phase::backward, Phase::step};
  static const char* name(Phase phase);
  void put(Phase phase) { put(phase, {0, position_.range().rows}); }
  // The same for these rows of the batch.
  void put(Phase phase, const RowRange& rows);
  // The backward phase of these rows; its ops go to the device at once. See Engine::backward().
  void backward(const RowRange& rows, const ParameterVector& to, std::span<const Engine::Add> adds,
                const Engine::Summed& summed);
  // After the last batch, when the device has done all that was queued; then come the batches of the validation.
  void end_epoch();
  int64_t validation_batches() const;
  int64_t validation_rows() const { return task_.validate.size(); }
  RowRange validation_range(int64_t k) const;  // rows of batch k
  void put_validation(int64_t k);
  void end_validation();
  // Ends it, because a loss within the epoch is no finite number.
  void diverge();

  // Ops that were put and are not yet on the device.
  std::vector<mk_op>& queue() { return queue_; }
  // The rows of the batches in queue(): where these agree, ops do in shape.
  const std::vector<int64_t>& queued_rows() const { return queued_rows_; }
  void clear_queue();

  // Loss and hit of each row, in the epoch's order, or in that of the validation.
  const Slice& results() const { return results_; }
  const Slice& validation_results() const { return validation_results_; }
  // The score of rows [first, first + rows) of the epoch that ran last.
  Score score(int64_t first, int64_t rows) const { return score(results_, first, rows); }
  // Since the last call, or of the last epoch where none has begun: for the progress line.
  Score recent_score();

  // All parameters in the network's own order. The last thing a training does: what only steps need is given back
  // first, so that the copy finds room where the device's memory is the host's.
  std::vector<float> take_parameters();

 private:
  void scale_target();
  Score score(const Slice& results, int64_t first, int64_t rows) const;
  void put_loss(const mk_tensor& outputs, const mk_tensor& index, double scale, const mk_tensor& rows,
                const mk_tensor& gradient);

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
  uint64_t dropout_seed_;
  Slice order_, results_;  // of the epoch
  Slice validation_order_, validation_results_;
  Slice scaled_target_;  // of standardise_target
  std::vector<mk_op> queue_;
  std::vector<int64_t> queued_rows_;
  int64_t shown_batch_ = 0;
};

}  // namespace mokume::cnn
