// Trains one network on all devices of a team; see Settings::parallel. A single device can train it, too.
#pragma once

#include <optional>

#include "sdk/team.hpp"
#include "storage/save_timer.hpp"
#include "train/passes.hpp"
#include "train/pipeline.hpp"
#include "train/placement.hpp"
#include "train/shares.hpp"
#include "train/training.hpp"

namespace mokume::cnn {

// Returns the settings that the team applies. With batch_scope = "per_device", the batch combines the batches of all
// devices. Resumed training keeps the batch of the `begun_with` devices with which it began.
Settings settings_for(Settings settings, const sdk::Team& team, int64_t begun_with = 0);

// Returns the number of devices for which the batch of the leader's checkpoint was made, or 0 if there is no checkpoint
// or the number does not matter. Every member must call this function.
int64_t begun_with(const sdk::Host& host, const Settings& given, const sdk::Team& team, const TrainingTask& task);

// Every member constructs and runs an object of this class for the same training. Only the leader keeps checkpoints.
//
// With `synchronous`, each member computes the gradients of some shards of each batch. Their sums go through the team
// layer by layer, while earlier layers are still computing, and all members take the same step. If all devices are of
// one class, the weights are bit-identical to those of a single device. The same holds if the network is too large for
// a device (Placement): with MK_SPLIT_STATES each member steps the weights whose states it has, and sends them to all;
// with MK_SPLIT_LAYERS each member has some of the layers, through which the shards pass (Pipeline).
//
// With `local_sgd`, each member trains on its own batches; then the team averages weights and optimizer states,
// weighted by rows. The result depends on the number of devices and, if their speeds differ, on the speeds.
class TeamTraining {
 public:
  // All references must outlive the object. `training` must use the settings that settings_for() returns, and this
  // member's part of `placement`.
  TeamTraining(const sdk::Team& team, Training& training, const Placement& placement, const Cut& cut,
               const mk_fit_sink& sink);

  // Runs training to its end, like train() in stacked.hpp, and returns nothing; or saves a checkpoint from which
  // training resumes with another cut of the layers. Also throws Error(MK_CANCELLED) if the team loses a member.
  std::optional<Cut> run();

 private:
  bool local() const { return parallel_.kind == Parallel::Kind::local_sgd; }
  void restore();
  void save();
  void cut_anew(Cut next);
  void deliver(const std::string& name, const ParameterVector& to, int64_t first, std::span<float> values);
  bool collect(const Placement::Piece& piece, const ParameterVector& from, std::span<float> to);
  void collect_result();
  void share_state();
  void share_reductions();
  // Calls body(vector, first element of the chunk, memory for the chunk) for the chunks of the vectors that all members
  // have.
  template <class Body>
  void for_each_shared(const Body& body);

  void run_pass(const ShardPass& pass, const Engine::Summed& summed);
  void put(Training::Phase phase, const RowRange& rows);
  void synchronous_step();
  void compute_shards(int64_t begin, int64_t end);
  void give(int64_t first, int64_t count, const std::vector<Subtree>& trees) const;
  void take_gradients();
  void pass_layers();
  void exchange_weights();
  void local_round();
  void average(double weight);

  void end_epoch();
  void validate(const Shares& shares);
  void gather(const Slice& results, const RowRange& rows, std::vector<RowRange>& mine);
  RowRange share_of(const Shares& shares) const;
  RowRange share_of(const Shares& shares, int64_t units) const;
  Shares shares() const;
  void note_shares();
  void repeat_shares();
  void adapt(const std::vector<double>& units, const std::vector<double>& seconds);
  void meet();
  void show(double elapsed_s, const std::vector<double>& busy_s, int64_t steps);

  sdk::Team team_;
  Training& training_;
  const sdk::Device& device_;
  const Placement& placement_;
  const Parallel& parallel_;
  const mk_fit_sink& sink_;
  const Network& network_;
  Position& position_;
  Pipeline pipeline_;
  Speeds speeds_;
  Backoff backoff_;
  RecordedShares recorded_;
  Shares shares_;               // current shards per member, or the recorded shares
  std::vector<RowRange> mine_;  // rows of this epoch whose results are in this device's memory
  int64_t patience_;            // meetings before the next look for a better cut
  int64_t meetings_ = 0;
  std::optional<Cut> next_;    // set if the layers must be cut anew
  bool saves_ = false;         // whether the leader keeps checkpoints
  int64_t gathered_ = 0;       // in a pipeline, rows of this epoch whose results all members have
  double busy_s_ = 0;          // busy time of this member since the last meeting
  int64_t units_ = 0;          // shards or batches since the last meeting
  int64_t since_meeting_ = 0;  // steps or rounds of run() since the last meeting
  int64_t steps_ = 0;          // steps of the team or rounds since the last meeting
  int64_t rows_to_show_ = 0;   // rows of all members
  double shown_at_ = 0, met_at_ = 0;
  std::string since_, split_;  // start and shares of the period since the last meeting
  storage::SaveTimer save_timer_;
  std::vector<sdk::HostFloats> staged_;  // gradients of each subtree in host memory
  sdk::HostFloats room_;                 // receives sums
};

}  // namespace mokume::cnn
