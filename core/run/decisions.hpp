// Decides by results which fits of a search are computed: the rungs of successive halving, or the trials.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "journal/record.hpp"
#include "results/view.hpp"
#include "search/halving.hpp"
#include "search/plan.hpp"
#include "search/trials.hpp"

namespace mokume::run {

// Returns, for each fit, the probability that the search computes it, or nothing if it computes all fits.
std::vector<double> chances_of(const search::Plan& plan);

class Decisions {
 public:
  using Records = std::vector<std::optional<journal::FitRecord>>;

  // `plan` must outlive the object. `at_once` is the number of trials that may be under way at once.
  Decisions(const search::Plan& plan, std::vector<results::Metric> metrics, const std::vector<search::Space>& spaces,
            uint64_t seed, uint32_t at_once);
  // Between two calls, records may only be added. Names fits that nobody needs only once.
  cluster::Decision decide(const Records& done);

 private:
  // Holds the trials of one bootstrap, in their order.
  struct Trials {
    search::TrialChooser chooser;
    std::vector<uint32_t> candidates;
    std::vector<search::TrialChooser::Result> results;  // the first trials, as far as all of them are done
    bool over = false;                                  // the candidates that are no trials have been named
  };

  cluster::Decision decide_rungs(const Records& done) const;
  std::vector<search::InRung> in_rung(uint32_t rung, const Records& done) const;
  cluster::Decision decide_trials(const Records& done);
  void choose_trials(uint32_t bootstrap, const Records& done);
  std::optional<double> mean_loss(uint32_t first, uint32_t count, const Records& done) const;

  const search::Plan& plan_;
  const std::vector<results::Metric> metrics_;
  const std::optional<size_t> metric_;  // the one that compares candidates
  const uint32_t at_once_;
  std::vector<Trials> trials_;  // by bootstrap; empty without trials
};

}  // namespace mokume::run
