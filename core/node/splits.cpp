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

// Returns a sample of the training rows followed by the validation rows, which form fold 0.
data::Sample sample_in_time(int64_t trained, int64_t with_validated) {
  std::vector<int32_t> fold_of(static_cast<size_t>(with_validated), 0);
  std::fill(fold_of.begin(), fold_of.begin() + trained, -1);
  return data::whole_sample(std::move(fold_of));
}

}  // namespace

Splits::Splits(const config::Config& config, const search::Plan& plan, const data::Dataset& data)
    : config_(config),
      bootstraps_(plan.bootstraps),
      repeats_(plan.repeats),
      factor_(plan.factor),
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
  if (config_.ordered && config_.share == 0 && config_.folds > 0) {
    const std::vector<int64_t> ends = data::time_blocks(train.rows, config_.folds);
    for (size_t k = 1; k < ends.size(); ++k) samples_.push_back(sample_in_time(ends[k - 1], ends[k]));
    samples_.push_back(sample_in_time(train.rows, train.rows));
    return;
  }
  if (factor_ > 0) return draw_rungs(train);
  for (uint32_t s = 0; s < bootstraps_ * repeats_; ++s)
    samples_.push_back(config_.bootstraps == 0 ? data::whole_sample(assign_rows(train, s))
                                               : data::draw_sample(assign_rows(train, s), config_.seed, s));
}

void Splits::draw_rungs(const data::Table& train) {
  const std::vector<int32_t> fold_of = assign_rows(train, 0);
  uint64_t divisor = 1;
  for (uint32_t rung = 1; rung < repeats_; ++rung) divisor *= factor_;
  for (uint32_t rung = 0; rung < repeats_; ++rung, divisor /= factor_)
    samples_.push_back(divisor == 1 ? data::whole_sample(fold_of)
                                    : data::draw_part(fold_of, train.labels, divisor, config_.seed));
  check_smallest(train);
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
