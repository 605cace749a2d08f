// Predicts when the fits of a session end, from the time that finished fits took.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "journal/record.hpp"
#include "scheduler/cost_model.hpp"
#include "scheduler/policy.hpp"

namespace mokume::run {

// Learns from each fit how long the remaining fits take (see scheduler::CostModel). A device delivers the fits of a
// bundle in batches, which divide the bundle's time: early fits of a bundle are often shorter than late ones.
class Eta {
 public:
  // The remaining `slots` after those of the workload are refits, which weigh as much as a mean fit. `done` holds the
  // fits of earlier sessions. `chances` holds the probability of each fit that it is computed, or nothing if all are.
  Eta(const scheduler::Workload& workload, uint64_t slots, const std::vector<journal::FitRecord>& done, double now_s,
      std::vector<double> chances = {});

  void done(const journal::FitRecord& record);
  void settle(double now_s);  // learns from batches that have ended

  // Returns the predicted seconds until the end, or nothing while unknown. `classes` holds the class of each device
  // that takes part. `running` is the sum of the finished shares of all running bundles, and `gained` is the part of it
  // that this session has computed.
  std::optional<double> seconds_left(double now_s, const std::vector<std::string>& classes, double running,
                                     double gained) const;

 private:
  struct Batch {
    std::string device_class;
    std::vector<uint32_t> fits;  // not yet observed
    double begin_s = 0, first_s = 0, end_s = 0;  // end of the batch before; first and last delivery
  };

  void observe(Batch& batch);
  void weigh();  // computes the sums again, after the cost model has learned
  double work(uint32_t slot) const;
  double chance(uint32_t fit) const { return fit < chances_.size() ? chances_[fit] : 1; }
  double power(const std::vector<std::string>& classes) const;

  scheduler::CostModel costs_;
  std::map<std::string, uint32_t> classes_;
  std::map<std::pair<uint32_t, std::string>, Batch> batches_;  // by node and device
  std::vector<double> chances_;
  std::vector<bool> is_done_;  // indexed by slot
  uint64_t fits_ = 0;          // number of fits; the other slots are refits
  double fits_per_bundle_ = 1;
  double total_ = 0, done_ = 0;  // expected work of all slots and work of the finished ones; see CostModel::work()
  double before_ = 0;            // the part of done_ that earlier sessions did
  double refit_ = 1;             // work of a refit
  double left_ = 0;              // expected number of slots that are still to be computed
  double start_s_ = 0;
  uint64_t learned_ = 0;  // version of the cost model for which the sums hold
  bool team_ = false;     // all devices work on one fit
};

}  // namespace mokume::run
