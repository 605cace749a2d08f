// Defines the interfaces through which the coordinator queries and notifies its run. All calls come from the thread of
// cluster::run() and must return quickly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"

namespace mokume::cluster {

// Receives the events of a run on node 0. Derived classes override only the functions that they need.
class Observer {
 public:
  virtual ~Observer() = default;
  // Announces a step of the run other than fitting, for example "loading mnist".
  virtual void phase(const std::string& text) { static_cast<void>(text); }
  // Receives a fit or refit that is done for the first time.
  virtual void fit_done(const journal::FitRecord& record) { static_cast<void>(record); }
  // Receives the record of node 0 for a fit that failed for good, before a call of fit_done(), or that was dropped.
  virtual void given_up(const journal::FitRecord& record) { static_cast<void>(record); }
  virtual void event(const journal::EventRecord& event) { static_cast<void>(event); }
  virtual void device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
    static_cast<void>(node), static_cast<void>(device), static_cast<void>(what), static_cast<void>(share);
  }
};

using Observers = std::vector<Observer*>;  // in the order of notification

// Calls `event`, a member function of Observer, on each observer.
template <class Event, class... Args>
void notify(const Observers& observers, Event event, const Args&... args) {
  for (Observer* const one : observers) (one->*event)(args...);
}

// Describes a refit, as known once all fits of its bootstrap are done.
struct Refit {
  std::optional<uint32_t> candidate;  // empty if nothing can be trained
  std::string why;                    // one sentence that explains why nothing can be trained
  std::optional<uint32_t> like;       // a fit of that candidate, if there is one
  std::vector<uint32_t> fits;         // fits whose notes the refit gets, in this order
  double cost = 0;                    // cost in the unit of the workload's bundles
  uint64_t bytes = 0;
};

// Chooses refits from results by fixed rules. All functions are pure functions of the plan and the records.
class RefitRules {
 public:
  virtual ~RefitRules() = default;
  virtual Refit choose(uint32_t refit, const std::vector<journal::FitRecord>& fits) = 0;
  // Returns the fits of this rung and later ones that successive halving drops, given the fits of the rung before. An
  // earlier session may have recorded some fits of this rung, dropped or computed, which are `known`; that is final.
  virtual std::vector<uint32_t> dropped(uint32_t rung, const std::vector<journal::FitRecord>& fits,
                                        const std::vector<journal::FitRecord>& known) {
    static_cast<void>(rung), static_cast<void>(fits), static_cast<void>(known);
    return {};
  }
  // Returns the value by which choose() compares candidates, for one fit, or no value if the fit gives no hint. Smaller
  // is better; infinity is the worst. The value affects only the order of work.
  virtual std::optional<double> loss(const journal::FitRecord& fit) const = 0;
};

}  // namespace mokume::cluster
