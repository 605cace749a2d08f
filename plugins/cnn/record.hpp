// The history of a training, epoch by epoch, and whether the training must end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mokume::cnn {

// Loss and hits over some rows, summed in double in the order of the rows.
struct Score {
  double loss = 0;  // mean
  int64_t hits = 0;
  int64_t rows = 0;

  double accuracy() const { return rows == 0 ? 0 : double(hits) / rows; }
};

// Sums up the values that loss ops wrote (rows x 2). A loss of 1 counts as `unit`.
Score sum_up(std::span<const float> results, double unit = 1);

// Returns text such as "epoch 3/10: loss 0.25, 91.5 % right, 1200 rows/s".
std::string progress_text(int64_t epoch, int64_t epochs, const Score& recent, bool classifies, double rows_per_s);

struct History {
  std::vector<double> train_loss, train_accuracy, validation_loss, validation_accuracy;
};

struct Record {
  bool classifies = true;
  StopRule rule = {};
  History history = {};
  Score validation = {};  // of the last epoch
  bool diverged = false;  // a loss is not finite
  bool stopped = false;   // by the rule

  int64_t epochs() const { return history.train_loss.size(); }
  double last_loss() const { return epochs() == 0 ? 0 : history.train_loss.back(); }
  void add_epoch(const Score& trained);
  void add_validation(const Score& validated);
  void apply_rule();
};

}  // namespace mokume::cnn
