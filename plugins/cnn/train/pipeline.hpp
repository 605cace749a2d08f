// Runs the passes of a pipeline: each member of a team has some consecutive layers (Placement), and sends their output
// to the member with the next layers, and the gradient of their input back.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/team.hpp"
#include "train/passes.hpp"
#include "train/placement.hpp"
#include "train/training.hpp"

namespace mokume::cnn {

class Pipeline {
 public:
  // All references must outlive the object.
  Pipeline(const sdk::Team& team, Training& training, const Placement& placement);

  // Waits for all members, also those without layers, so that none waits longer than a batch for a sum, and none is
  // more than a batch ahead of the others.
  void meet();
  bool has_layers() const { return has_layers_; }
  bool is_last() const { return training_.engine().has_output(); }
  // Runs the passes over the shards of a batch in the order 1F1B (Narayanan et al., PipeDream, 2019): as many forward
  // passes as members follow, then a forward and a backward pass alternately. Every member must have the same passes.
  void run(const std::vector<ShardPass>& passes);
  // Computes the losses of all validation batches.
  void validate();
  // Returns the seconds since the last call in which this member waited for others.
  double take_waited();

 private:
  void validate(int64_t begin, int64_t end);
  void forward(const ShardPass& pass);
  void backward(const ShardPass& pass);
  void receive(uint32_t from, int64_t count);
  void take_input(int64_t rows);
  void send_output(int64_t rows);
  void put(Training::Phase phase, const RowRange& rows);

  const sdk::Team team_;
  Training& training_;
  const sdk::Device& device_;
  bool has_layers_ = false;
  uint32_t before_ = 0, after_ = 0;  // members with the layers before and after
  int64_t followers_ = 0;            // members with later layers
  int64_t in_flight_ = 1;
  sdk::HostFloats room_;
  double waited_s_ = 0;
};

// Submits the queued ops of a training to its device.
void submit_queue(Training& training);

}  // namespace mokume::cnn
