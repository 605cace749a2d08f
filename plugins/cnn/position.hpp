// Where a training is in its epochs, and what follows from that alone: rows, the step and the learning rate.
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
  // The training is on `rows` rows. `settings` must outlive it.
  Position(const Settings& settings, int64_t rows) : settings_(settings), rows_(rows) {}

  int64_t epoch = 0, batch = 0;  // in work, from 0
  // With several workers, each of which takes some of the batches, steps count as those of one of them.
  int64_t workers = 1;
  std::optional<int64_t> step_of_epoch;  // of the batch in work, where they are not taken one after the other

  int64_t batches() const;                                             // of an epoch
  int64_t batches_begun() const { return epoch * batches() + batch; }  // before the one in work
  bool at_start_of_epoch() const { return batch == 0; }
  bool at_end_of_epoch() const { return batch == batches(); }
  void next_epoch() { batch = 0, ++epoch; }
  RowRange range() const;     // of the batch in work, in the epoch's order
  int64_t rows_done() const;  // of this epoch
  int64_t rows_trained() const { return epoch * rows_ + rows_done(); }
  double share_done() const;                 // of all epochs
  int64_t step() const;                      // from 0
  ops::OptimizerSettings optimizer() const;  // with the learning rate of the step

 private:
  int64_t steps() const { return (batches() + workers - 1) / workers; }  // of an epoch

  const Settings& settings_;
  int64_t rows_;
};

}  // namespace mokume::cnn
