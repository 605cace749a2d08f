// Chooses the candidate of a bootstrap's refit, and the refits of earlier sessions that remain valid.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "journal/read.hpp"
#include "node/experiment.hpp"
#include "results/stats.hpp"
#include "results/view.hpp"
#include "run/decisions.hpp"
#include "scheduler/policy.hpp"

namespace mokume::run {

// Returns the best candidate of a bootstrap if its fits are done, or the only candidate if there is no validation.
std::optional<results::CandidateRow> best_row(const search::Plan& plan, const std::vector<results::Metric>& metrics,
                                              const std::vector<journal::FitRecord>& records, uint32_t bootstrap);

std::vector<journal::FitRecord> without_dropped(std::vector<journal::FitRecord> records);

// Returns the fits that each refit waits for.
std::vector<std::vector<uint32_t>> fits_by_bootstrap(const search::Plan& plan);

class BestCandidates : public cluster::SearchRules {
 public:
  // The `bundles` of the workload give the cost of a refit. `experiment` must outlive the rules.
  BestCandidates(const node::Experiment& experiment, std::vector<scheduler::Bundle> bundles)
      : experiment_(experiment),
        decisions_(experiment.plan(), experiment.metrics(), experiment.config().spaces, experiment.config().seed,
                   experiment.config().at_once),
        bundles_(std::move(bundles)) {}

  cluster::Refit choose(uint32_t bootstrap, const std::vector<journal::FitRecord>& fits) override;
  cluster::Decision decide(const Decisions::Records& done) override { return decisions_.decide(done); }
  std::optional<double> loss(const journal::FitRecord& fit) const override;

 private:
  const node::Experiment& experiment_;
  Decisions decisions_;
  const std::vector<scheduler::Bundle> bundles_;
};

struct Before {
  // Holds all fits, and the refits whose candidate is still the best and whose model exists.
  std::vector<journal::FitRecord> done;
  std::vector<journal::FitRecord> to_redo;  // refits that later refits supersede
  std::map<uint32_t, uint32_t> attempts;    // last attempt of each slot, in all records and events
};
Before done_before(const node::Experiment& experiment, const std::string& run_directory, journal::Contents contents);

}  // namespace mokume::run
