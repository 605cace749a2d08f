// Training one network on all devices of a team; see Settings::parallel. A device alone does the same by itself.
#pragma once

#include "save_timer.hpp"
#include "recorded_shares.hpp"
#include "sdk/team.hpp"
#include "shares.hpp"
#include "training.hpp"

namespace mokume::cnn {

// Settings as the team takes them: with batch_scope = "per_device" its batch is that of all devices together, or of the
// `begun_with` that a training has begun with which goes on from a checkpoint.
Settings settings_for(Settings settings, const sdk::Team& team, int64_t begun_with = 0);

// How many devices' batches the batch of the checkpoint is, which the leader has; 0 where there is none, or the number
// does not matter. Every member calls it.
int64_t begun_with(const sdk::Host& host, const Settings& given, const sdk::Team& team, const TrainingTask& task);

// Shards [first, first + size) of a batch: a subtree of the binary tree over all of them.
struct Subtree {
  int64_t first, size;
};

// Every member makes one of the same training and runs it. Only the leader keeps checkpoints.
//
// synchronous: each member computes the gradients of some shards of each batch, their sums go through the team layer by
// layer while the layers before are still at work, and all take the same step. The weights are those of a device alone,
// bit by bit, if all are of one class.
//
// local_sgd: each takes batches of its own; then weights and the optimizer's states are averaged, weighted by rows. The
// outcome depends on the number of devices, and on their speeds where these are unequal.
class TeamTraining {
 public:
  // All references must outlive it. The training's settings are those of settings_for().
  TeamTraining(const sdk::Device& device, const sdk::Team& team, const Parallel& parallel, Training& training,
               const mk_fit_sink& sink);

  // To the end, as Training::run() does. Error(MK_CANCELLED) also if the team breaks up.
  void run();

 private:
  struct Meter {
    double busy_s = 0;
    int64_t units = 0;  // shards or batches
  };

  void restore();
  void share_state();
  struct Pass;
  bool plan_passes(std::span<const RowRange> shards, const ParameterVector& to, std::vector<Pass>& passes) const;
  void run_pass(const Pass& pass, const std::function<void(const Stage&)>& summed);
  void synchronous_step();
  void give(int64_t first, int64_t count, const std::vector<Subtree>& trees) const;
  void give_nothing() const;
  void take_gradients();
  void local_round();
  void average(double weight);
  void end_epoch();
  void gather(const Slice& results, int64_t rows, std::vector<RowRange>& mine);
  void note_split();
  void repeat_split();
  std::vector<int64_t> shares() const;
  void adapt(const std::vector<int64_t>& units, const std::vector<double>& seconds);
  void heed();
  void show(double elapsed_s, const std::vector<double>& busy_s, int64_t steps);
  void flush();

  const sdk::Device& device_;
  sdk::Team team_;
  Parallel parallel_;
  Training& training_;
  const mk_fit_sink& sink_;
  const Network& network_;
  Speeds speeds_;
  SecondChances chances_;
  RecordedSplits recorded_;
  std::vector<int64_t> shares_;  // by member: of shards, or what was recorded
  std::vector<RowRange> mine_;   // places of this epoch whose results are in this device's memory
  Meter meter_;
  int64_t unheeded_ = 0;
  int64_t steps_ = 0;         // since the last look: of the team, or rounds
  int64_t rows_to_show_ = 0;  // of all members
  double shown_at_ = 0, heeded_at_ = 0;
  std::string since_, split_;  // where and how work has been split since the last look
  SavePace pace_;
  std::vector<sdk::HostFloats> staged_;  // by subtree: its gradients in host memory
  sdk::HostFloats room_;                 // for sums on their way back
};

}  // namespace mokume::cnn
