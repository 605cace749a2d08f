// Records the history of training, epoch by epoch, and decides whether training must end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mokume::cnn {

// Holds the loss and hits over some rows, summed in double in the order of the rows.
struct Score {
  double loss = 0;     // mean loss
  double squares = 0;  // mean square error of numbers, unless the loss is this error
  int64_t hits = 0;
  int64_t rows = 0;

  double accuracy() const { return rows == 0 ? 0 : double(hits) / rows; }
};

// Sums up the values that loss ops wrote (rows x 2). A loss of 1 counts as `unit`, a square of 1 as `square_unit`. With
// `weights`, one per row, the losses already include the weights, and the sum of the weights divides the loss.
Score sum_up(std::span<const float> results, double unit = 1, double square_unit = 1,
             std::span<const float> weights = {});

// Returns text such as "epoch 3/10: loss 0.25, 91.5 % right, 1200 rows/s".
std::string progress_text(int64_t epoch, int64_t epochs, const Score& recent, bool classifies, double rows_per_s);

struct History {
  std::vector<double> train_loss, train_accuracy, validation_loss, validation_accuracy;
  std::vector<double> validation_squares;  // Score::squares for numbers, if the rule needs it
};

struct Record {
  bool classifies = true;
  StopRule rule = {};
  History history = {};
  Score validation = {};  // score of the last epoch
  bool diverged = false;  // whether a loss is not finite
  bool stopped = false;   // whether the rule ended the training

  int64_t epochs() const { return history.train_loss.size(); }
  // Returns the first of the best epochs by the rule's curve, or -1 if there is none.
  int64_t best_epoch() const;
  // Returns whether the latest epoch is the best one and the rule keeps its weights.
  bool is_best() const { return rule.restore_best && !diverged && best_epoch() + 1 == epochs(); }
  // Returns the validation score of the resulting weights, i.e. of the last or the best epoch.
  Score validated() const;
  // Returns the losses that rules and schedules watch, by epoch: of validation or, without validation, of training.
  const std::vector<double>& watched() const {
    return history.validation_loss.empty() ? history.train_loss : history.validation_loss;
  }
  // Returns the rule's curve. Smaller is better, so accuracies are negated. Without validation, uses training.
  std::vector<double> monitored() const;
  double last_loss() const { return epochs() == 0 ? 0 : history.train_loss.back(); }
  void add_epoch(const Score& trained);
  void add_validation(const Score& validated);
  // Records the validation of an untrained network.
  void add_start(const Score& validated);
  void apply_rule();
};

}  // namespace mokume::cnn
