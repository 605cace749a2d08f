#include "node/splits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "data/fold_file.hpp"
#include "data/folds.hpp"
#include "sdk/error.hpp"
#include "search/published_draws.hpp"

namespace mokume::node {
namespace {

// Tells where a block of rows that a fold validates begins and ends. The rows before it are those to train on.
struct Block {
  int64_t begin = 0, end = 0;
};

// Returns the first of the rows that the block's fold trains on, the latest of which a larger divisor keeps.
int64_t first_row(const Block& block, uint64_t divisor) {
  return block.begin - ((block.begin - 1) / static_cast<int64_t>(divisor) + 1);
}

// Returns a sample of the rows to train on, followed by the rows of the block, which form fold 0.
data::Sample sample_in_time(const Block& block, uint64_t divisor) {
  data::Sample sample;
  for (int64_t row = first_row(block, divisor); row < block.end; ++row) {
    sample.row.push_back(static_cast<uint32_t>(row));
    sample.fold_of.push_back(row < block.begin ? -1 : 0);
  }
  return sample;
}

// Returns how many rows the fits of a sample's folds train on, as the mean over the folds.
int64_t trained_rows(const data::Sample& sample, uint32_t folds) {
  const auto validated =
      std::count_if(sample.fold_of.begin(), sample.fold_of.end(), [](int32_t fold) { return fold >= 0; });
  return static_cast<int64_t>(sample.row.size()) - validated / int64_t{std::max(1U, folds)};
}

}  // namespace

Splits::Splits(const config::Config& config, const search::Plan& plan, const data::Dataset& data)
    : config_(config),
      bootstraps_(plan.bootstraps),
      repeats_(plan.repeats),
      factor_(plan.factor),
      whole_(plan.whole),
      folds_(config.ordered && config.folds > 0 ? 1 : config.folds) {
  if (config.random_compat == "numpy") {
    for (search::BootstrapDraws& one :
         search::published_draws(config.seed_text, plan.bootstraps, 0, config.spaces, data.train.rows, config.folds))
      samples_.push_back({std::move(one.row), std::move(one.fold_of)});
  } else {
    draw(data);
  }
}

void Splits::draw(const data::Dataset& data) {
  const data::Table& train = data.train;
  if (config_.ordered && config_.folds > 0 && (config_.share == 0 || factor_ > 0)) return draw_in_time(train);
  if (factor_ > 0) return draw_rungs(train);
  for (uint32_t s = 0; s < bootstraps_ * repeats_; ++s)
    samples_.push_back(config_.bootstraps == 0 ? data::whole_sample(assign_rows(train, s))
                                               : data::draw_sample(assign_rows(train, s), config_.seed, s));
}

// Returns the share of the rows in each rung, as a divisor.
std::vector<uint64_t> Splits::divisors() const {
  if (factor_ == 0) return {1};
  std::vector<uint64_t> divisors(repeats_, whole_ ? 1 : factor_);
  for (size_t rung = divisors.size() - 1; rung > 0; --rung) divisors[rung - 1] = divisors[rung] * factor_;
  return divisors;
}

void Splits::draw_in_time(const data::Table& train) {
  std::vector<Block> blocks;
  if (config_.share > 0) {
    const std::vector<int32_t> fold_of = data::assign_last_share(train, config_.share);
    blocks.push_back({std::count(fold_of.begin(), fold_of.end(), -1), train.rows});
  } else {
    const std::vector<int64_t> ends = data::time_blocks(train.rows, config_.folds);
    for (size_t k = 1; k < ends.size(); ++k) blocks.push_back({ends[k - 1], ends[k]});
  }
  for (const uint64_t divisor : divisors())
    for (const Block& block : blocks) samples_.push_back(sample_in_time(block, divisor));
  samples_.push_back(data::whole_sample(std::vector<int32_t>(static_cast<size_t>(train.rows), -1)));
  for (const Block& block : blocks) rows_of_whole_ += block.begin;
  rows_of_whole_ /= static_cast<int64_t>(blocks.size());
  if (factor_ > 0) check_smallest(train);
}

void Splits::draw_rungs(const data::Table& train) {
  const std::vector<int32_t> fold_of = assign_rows(train, 0);
  for (const uint64_t divisor : divisors())
    samples_.push_back(divisor == 1 ? data::whole_sample(fold_of)
                                    : data::draw_part(fold_of, train.labels, divisor, config_.seed));
  if (!whole_) samples_.push_back(data::whole_sample(fold_of));
  rows_of_whole_ = trained_rows(samples_.back(), folds_);
  check_smallest(train);
}

int64_t Splits::rows_in_rung(uint32_t rung) const {
  const uint32_t each = config_.folds / folds_;  // samples of a rung: in the order of time, one for each fold
  int64_t rows = 0;
  for (uint32_t s = rung * each; s < (rung + 1) * each; ++s) rows += trained_rows(samples_[s], folds_);
  return rows / int64_t{each};
}

// Every part of the first rung, a fold or the rows without one, must have enough rows to compare candidates.
void Splits::check_smallest(const data::Table& train) const {
  std::map<int32_t, size_t> parts;
  for (const int32_t fold : samples_.front().fold_of) ++parts[fold];
  const size_t classes =
      train.labels.empty() ? 1 : static_cast<size_t>(*std::max_element(train.labels.begin(), train.labels.end())) + 1;
  for (const auto& [fold, rows] : parts)
    if (rows < 2 * classes)
      throw TooFewRows(
          fmt::format("the first of {} rungs with factor {} has {} of {} training rows, and a fold of it has {}, "
                      "fewer than two for each class; set a smaller search.rungs or search.factor",
                      repeats_, factor_, samples_.front().row.size(), train.rows, rows));
}

std::vector<int32_t> Splits::assign_rows(const data::Table& train, uint32_t draw) const {
  const config::Config& c = config_;
  if (c.folds == 0) return std::vector<int32_t>(static_cast<size_t>(train.rows), -1);
  if (!train.given_folds.empty()) {
    data::check_folds(c.data.folds_file, train.given_folds, c.folds);
    return train.given_folds;
  }
  const bool grouped = !train.groups.empty();
  if (c.share == 0 && grouped) return data::assign_group_folds(train, c.folds, c.shuffle, c.stratified, c.seed, draw);
  if (c.share == 0) return data::assign_folds(train, c.folds, c.shuffle, c.stratified, c.seed, draw);
  if (c.ordered) return data::assign_last_share(train, c.share);
  if (grouped) return data::assign_group_share(train, c.share, c.seed, draw);
  return data::assign_share(train, c.share, c.stratified, c.seed, draw);
}

Splits::Place Splits::place_of(const Fold& fold) const {
  return {fold.bootstrap * repeats_ + fold.fold / folds_, static_cast<int32_t>(fold.fold % folds_)};
}

uint32_t Splits::sample_of_refit(uint32_t bootstrap) const {
  const bool in_time = config_.ordered && config_.share == 0;
  // The last sample has all rows.
  return in_time || factor_ > 0 ? static_cast<uint32_t>(samples_.size() - 1) : bootstrap * repeats_;
}

std::optional<Splits::Fold> Splits::fold_at(const Place& place) const {
  if (place.fold < 0 || static_cast<uint32_t>(place.fold) >= folds_) return std::nullopt;
  // Samples that share a bootstrap are consecutive.
  const auto of_bootstrap = static_cast<uint32_t>(samples_.size()) / bootstraps_;
  const Fold fold{place.sample / of_bootstrap,
                  place.sample % of_bootstrap * folds_ + static_cast<uint32_t>(place.fold)};
  const uint32_t planned = config_.folds * repeats_;
  return fold.bootstrap < bootstraps_ && fold.fold < planned ? std::optional(fold) : std::nullopt;
}

std::vector<uint32_t> Splits::rows_of(const Fold& fold, bool validated) const {
  const Place place = place_of(fold);
  const data::Sample& sample = samples_[place.sample];
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < sample.row.size(); ++i)
    if ((sample.fold_of[i] == place.fold) == validated) rows.push_back(sample.row[i]);
  return rows;
}

}  // namespace mokume::node
