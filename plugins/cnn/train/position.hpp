// The position of a training within its epochs, and what follows from it: rows, step and learning rate.
#pragma once

#include <cstdint>
#include <optional>

#include "settings.hpp"

namespace mokume::cnn {

struct RowRange {
  int64_t first = 0, rows = 0;
};

class Position {
 public:
  // The training has `rows` rows. `settings` must outlive the object.
  Position(const Settings& settings, int64_t rows) : settings_(settings), rows_(rows) {}

  int64_t epoch = 0, batch = 0;  // the current ones, from 0
  int64_t reductions = 0;        // of the schedule, by the losses of the epochs so far
  // If several workers share the batches of an epoch, steps are counted per worker.
  int64_t workers = 1;
  std::optional<int64_t> step_of_epoch;  // of the current batch, if batches are not taken in sequence

  int64_t batches() const;                                             // per epoch
  int64_t batches_begun() const { return epoch * batches() + batch; }  // before the current one
  bool at_start_of_epoch() const { return batch == 0; }
  bool at_end_of_epoch() const { return batch == batches(); }
  void next_epoch() { batch = 0, ++epoch; }
  RowRange range() const;     // of the current batch, in the epoch's order
  int64_t rows_done() const;  // of this epoch
  int64_t rows_trained() const { return epoch * rows_ + rows_done(); }
  double share_done() const;  // of all epochs
  // The current batch among those whose gradients one step averages.
  bool begins_step() const { return batch % settings_.accumulate == 0; }
  bool ends_step() const { return (batch + 1) % settings_.accumulate == 0 || batch + 1 == batches(); }
  int64_t batches_of_step() const;
  int64_t step() const;                      // from 0
  ops::OptimizerSettings optimizer() const;  // with the learning rate of the step
  double muon_lr() const;                    // of the step

 private:
  double rate(double base) const;
  int64_t steps() const {  // per epoch
    const int64_t all = (batches() + settings_.accumulate - 1) / settings_.accumulate;
    return (all + workers - 1) / workers;
  }

  const Settings& settings_;
  int64_t rows_;
};

}  // namespace mokume::cnn
