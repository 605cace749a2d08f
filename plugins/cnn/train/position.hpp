// Tracks the position of training within its epochs, and computes the rows, step and learning rate that follow from it.
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
  // Training has `rows` rows. `settings` must outlive the object.
  Position(const Settings& settings, int64_t rows) : settings_(settings), rows_(rows) {}

  int64_t epoch = 0, batch = 0;  // current epoch and batch, from 0
  int64_t reductions = 0;        // reductions of the rate by the schedule, based on the losses of the epochs so far
  // If several workers share the batches of an epoch, each worker counts its own steps.
  int64_t workers = 1;
  std::optional<int64_t> step_of_epoch;  // step of the current batch, if batches are not taken in sequence

  int64_t batches() const;                                             // batches per epoch
  int64_t batches_begun() const { return epoch * batches() + batch; }  // batches before the current one
  bool at_start_of_epoch() const { return batch == 0; }
  bool at_end_of_epoch() const { return batch == batches(); }
  void next_epoch() { batch = 0, ++epoch; }
  RowRange range() const;     // rows of the current batch, in the epoch's order
  int64_t rows_done() const;  // finished rows of this epoch
  int64_t rows_trained() const { return epoch * rows_ + rows_done(); }
  double share_done() const;  // finished share of all epochs
  // Tell whether the current batch is the first or the last one of its step.
  bool begins_step() const { return batch % settings_.accumulate == 0; }
  bool ends_step() const { return (batch + 1) % settings_.accumulate == 0 || batch + 1 == batches(); }
  int64_t batches_of_step() const;
  int64_t step() const;                      // current step, from 0
  ops::OptimizerSettings optimizer() const;  // includes the learning rate of the step
  double muon_lr() const;                    // learning rate of the step

 private:
  double rate(double base) const;
  int64_t steps() const {  // steps per epoch
    const int64_t all = (batches() + settings_.accumulate - 1) / settings_.accumulate;
    return (all + workers - 1) / workers;
  }

  const Settings& settings_;
  int64_t rows_;
};

}  // namespace mokume::cnn
