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
  double loss = 0;     // mean
  double squares = 0;  // of numbers: the mean square of the errors, unless that is the loss
  int64_t hits = 0;
  int64_t rows = 0;

  double accuracy() const { return rows == 0 ? 0 : double(hits) / rows; }
};

// Sums up the values that loss ops wrote (rows x 2). A loss of 1 counts as `unit`, a square of 1 as `square_unit`. With
// `weights`, one for each row, the losses are already multiplied by them, and the mean is divided by their mean.
Score sum_up(std::span<const float> results, double unit = 1, double square_unit = 1,
             std::span<const float> weights = {});

// Returns text such as "epoch 3/10: loss 0.25, 91.5 % right, 1200 rows/s".
std::string progress_text(int64_t epoch, int64_t epochs, const Score& recent, bool classifies, double rows_per_s);

struct History {
  std::vector<double> train_loss, train_accuracy, validation_loss, validation_accuracy;
  std::vector<double> validation_squares;  // Score::squares; for numbers, if the rule needs them
};

struct Record {
  bool classifies = true;
  StopRule rule = {};
  History history = {};
  Score validation = {};  // of the last epoch
  bool diverged = false;  // a loss is not finite
  bool stopped = false;   // by the rule

  int64_t epochs() const { return history.train_loss.size(); }
  // The best epoch by the rule's curve, the first one if there are several, or -1 if there is none.
  int64_t best_epoch() const;
  // Whether the latest epoch is the best one, and the rule keeps it.
  bool is_best() const { return rule.restore_best && !diverged && best_epoch() + 1 == epochs(); }
  // The score of the validation with the weights that the training gives: of the last epoch, or of the best one.
  Score validated() const;
  // The loss of each epoch that rules and schedules watch: that of the validation, if there is one.
  const std::vector<double>& watched() const {
    return history.validation_loss.empty() ? history.train_loss : history.validation_loss;
  }
  // The curve of the rule, of which less is better: an accuracy is negative. Without validation, it is that of the
  // training.
  std::vector<double> monitored() const;
  double last_loss() const { return epochs() == 0 ? 0 : history.train_loss.back(); }
  void add_epoch(const Score& trained);
  void add_validation(const Score& validated);
  // The validation of a network that is not trained.
  void add_start(const Score& validated);
  void apply_rule();
};

}  // namespace mokume::cnn
