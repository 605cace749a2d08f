// Decides by results which fits of a search are computed: the rungs of successive halving, or the trials.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "search/plan.hpp"
#include "search/trials.hpp"

namespace mokume::run {

// Returns the fits of each stage, or nothing if the search computes all fits. The stages are the rungs, or the
// candidates of each bootstrap, of which some become trials.
std::vector<std::vector<uint32_t>> fits_by_stage(const search::Plan& plan);

// Returns, for each fit, the probability that the search computes it, or nothing if it computes all fits.
std::vector<double> chances_of(const search::Plan& plan);

class Stages {
 public:
  using Records = std::vector<std::optional<journal::FitRecord>>;

  // `experiment` must outlive the object.
  explicit Stages(const node::Experiment& experiment);
  cluster::Decision decide(const Records& done);

 private:
  // The trials of one bootstrap, in their order.
  struct Trials {
    search::TrialChooser chooser;
    std::vector<uint32_t> candidates;
    std::set<uint32_t> chosen;  // the same
    std::vector<search::TrialChooser::Result> results;  // of the first trials, as far as all of them are done
  };

  const search::Plan& plan() const { return experiment_.plan(); }
  cluster::Decision decide_rungs(const Records& done) const;
  std::vector<uint32_t> dropped(uint32_t rung, const Records& done) const;
  cluster::Decision decide_trials(const Records& done);
  void choose_trials(uint32_t bootstrap, const Records& done);
  std::optional<double> loss_of(uint32_t candidate, uint32_t bootstrap, const Records& done) const;

  const node::Experiment& experiment_;
  std::vector<Trials> trials_;  // by bootstrap; empty without trials
};

}  // namespace mokume::run
