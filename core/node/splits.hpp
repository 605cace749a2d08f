// Determines the training and validation rows of every fit, in the form for models: samples, each with its own folds.
// Repeats of the cross-validation are samples of all rows with other folds. In time order, each fold has its own
// sample, because it leaves out later rows. Each rung of successive halving has a sample, which contains that of the
// rung before with the same folds; in time order, it has a sample for each fold, of the latest rows to train on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "data/dataset.hpp"
#include "data/samples.hpp"
#include "sdk/error.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// The first rung of successive halving is too small for its folds and classes; the status is MK_INVALID_ARGUMENT.
class TooFewRows : public Error {
 public:
  explicit TooFewRows(const std::string& what) : Error(MK_INVALID_ARGUMENT, what) {}
};

class Splits {
 public:
  // A model identifies a fold by its sample and its number in the sample.
  struct Place {
    uint32_t sample = 0;
    int32_t fold = 0;
  };
  // The plan identifies a fold by its bootstrap and its number in the plan.
  struct Fold {
    uint32_t bootstrap = 0;
    uint32_t fold = 0;
  };

  // Throws Error if the rows do not suffice for the validation.
  Splits(const config::Config& config, const search::Plan& plan, const data::Dataset& data);

  const std::vector<data::Sample>& samples() const { return samples_; }
  uint32_t folds() const { return folds_; }  // number of folds in each sample

  Place place_of(const Fold& fold) const;
  uint32_t sample_of_refit(uint32_t bootstrap) const;
  // Return how many rows a fit trains on, as the mean over the folds: in a rung of successive halving, and with all
  // rows.
  int64_t rows_in_rung(uint32_t rung) const;
  int64_t rows_of_whole() const { return rows_of_whole_; }

  // Returns nothing if the plan does not contain the fold.
  std::optional<Fold> fold_at(const Place& place) const;

  // Return the rows that a fold trains on, and those that validate it, in training order.
  std::vector<uint32_t> training_rows(const Fold& fold) const { return rows_of(fold, false); }
  std::vector<uint32_t> validation_rows(const Fold& fold) const { return rows_of(fold, true); }

 private:
  std::vector<uint32_t> rows_of(const Fold& fold, bool validated) const;
  std::vector<int32_t> assign_rows(const data::Table& train, uint32_t draw) const;
  void draw(const data::Dataset& data);
  void draw_in_time(const data::Table& train);
  void draw_rungs(const data::Table& train);
  std::vector<uint64_t> divisors() const;
  void check_smallest(const data::Table& train) const;

  const config::Config& config_;
  uint32_t bootstraps_, repeats_;
  uint32_t factor_;  // search::Plan::factor
  bool whole_;       // search::Plan::whole
  uint32_t folds_;
  std::vector<data::Sample> samples_;
  int64_t rows_of_whole_ = 0;
};

}  // namespace mokume::node
