// Training one network on all devices of a team; see Settings::parallel. A device alone does the same by itself.
#pragma once

#include "save_timer.hpp"
#include "sdk/team.hpp"
#include "shares.hpp"
#include "training.hpp"

namespace mokume::cnn {

// Settings as the team takes them: with batch_scope = "per_device" the batch is that of all its devices, or of the
// `begun_with` devices with which a training began that resumes from a checkpoint.
Settings settings_for(Settings settings, const sdk::Team& team, int64_t begun_with = 0);

// How many devices' batches the batch of the leader's checkpoint is; 0 where there is none, or the number does not
// matter. Every member calls it.
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
// result depends on the number of devices, and on their speeds where these are unequal.
class TeamTraining {
 public:
  // All references must outlive it. The training's settings are those of settings_for().
  TeamTraining(const sdk::Team& team, Training& training, const mk_fit_sink& sink);

  // To the end, as train() of stacked.hpp does. Error(MK_CANCELLED) also if the team breaks up.
  void run();

 private:
  struct Pass;

  bool local() const { return parallel_.kind == Parallel::Kind::local_sgd; }
  void restore();
  void share_state();
  // body(chunk of the vector's first float, room for the chunk) for parameters and states.
  template <class Body>
  void for_each_state(const Body& body);

  bool plan_passes(std::span<const RowRange> shards, const ParameterVector& to, std::vector<Pass>& passes) const;
  void run_pass(const Pass& pass, const Engine::Summed& summed);
  void put(Training::Phase phase, const RowRange& rows);
  void synchronous_step();
  void compute_shards(int64_t begin, int64_t end);
  void give(int64_t first, int64_t count, const std::vector<Subtree>& trees) const;
  void take_gradients();
  void local_round();
  void average(double weight);

  void end_epoch();
  void gather(const Slice& results, int64_t rows, std::vector<RowRange>& mine);
  RowRange share_of(const Shares& shares) const;
  RowRange share_of(const Shares& shares, int64_t units) const;
  Shares shares() const;
  void note_shares();
  void repeat_shares();
  void adapt(const std::vector<double>& units, const std::vector<double>& seconds);
  void meet();
  void show(double elapsed_s, const std::vector<double>& busy_s, int64_t steps);
  void flush();

  sdk::Team team_;
  Training& training_;
  const sdk::Device& device_;
  const Parallel& parallel_;
  const mk_fit_sink& sink_;
  const Network& network_;
  Position& position_;
  Speeds speeds_;
  Backoff backoff_;
  RecordedShares recorded_;
  Shares shares_;               // of shards, or what was recorded
  std::vector<RowRange> mine_;  // rows of this epoch whose results are in this device's memory
  double busy_s_ = 0;           // of this member since the last meeting
  int64_t units_ = 0;           // shards or batches, likewise
  int64_t since_meeting_ = 0;   // steps or rounds of run()
  int64_t steps_ = 0;           // since the last meeting: of the team, or rounds
  int64_t rows_to_show_ = 0;    // of all members
  double shown_at_ = 0, met_at_ = 0;
  std::string since_, split_;  // where and how work has been shared since the last meeting
  SaveTimer save_timer_;
  std::vector<sdk::HostFloats> staged_;  // by subtree: its gradients in host memory
  sdk::HostFloats room_;                 // for sums on their way back
};

}  // namespace mokume::cnn
