// The interfaces through which the coordinator asks and tells its run. All calls come from the thread of cluster::run()
// and must be quick.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"

namespace mokume::cluster {

// Who is told what happens. Each function may be left as it is.
class Observer {
 public:
  virtual ~Observer() = default;
  // A fit or refit that was not done before is done.
  virtual void fit_done(const journal::FitRecord& record) { static_cast<void>(record); }
  // A fit failed for good without a result of its model: this record of node 0 stands for it. fit_done() follows.
  virtual void given_up(const journal::FitRecord& record) { static_cast<void>(record); }
  virtual void event(const journal::EventRecord& event) { static_cast<void>(event); }
  virtual void device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
    static_cast<void>(node), static_cast<void>(device), static_cast<void>(what), static_cast<void>(share);
  }
};

// The content of a refit, once all fits of its bootstrap are done.
struct Refit {
  std::optional<uint32_t> candidate;  // none: nothing can be trained
  std::string why;                    // then: one sentence
  std::optional<uint32_t> like;       // a fit of that candidate, if there is one
  double cost = 0;                    // in the unit of the workload's bundles
  uint64_t bytes = 0;
};

// The fixed rules by which results choose what is refitted: pure functions of the plan and of these records.
class RefitRules {
 public:
  virtual ~RefitRules() = default;
  virtual Refit choose(uint32_t refit, const std::vector<journal::FitRecord>& fits) = 0;
  // The value by which choose() compares candidates, for one fit; smaller is better, and infinite is worse than all. It
  // decides the order of work alone. No value: nothing is to be learned of the order.
  virtual std::optional<double> loss(const journal::FitRecord& fit) const = 0;
};

}  // namespace mokume::cluster
