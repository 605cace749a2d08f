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

// Says what the results so far decide about a search.
struct Decision {
  std::vector<uint32_t> begin;     // all fits that are to be computed, as far as the results decide it
  std::vector<uint32_t> dropped;   // fits that are not computed, which the journal records
  std::vector<uint32_t> unneeded;  // the same without a record, because the other records imply it
};

// Chooses by fixed rules what is computed, given results. All answers are functions of the plan and the records alone.
class SearchRules {
 public:
  virtual ~SearchRules() = default;
  virtual Refit choose(uint32_t refit, const std::vector<journal::FitRecord>& fits) = 0;
  // Decides what is computed, at the start and when a device asks for work and gets none. `done` holds the records of
  // all slots, and from one call to the next records are only added. They are final, even if an earlier session made
  // some that the results so far do not justify.
  virtual Decision decide(const std::vector<std::optional<journal::FitRecord>>& done) {
    static_cast<void>(done);
    return {};
  }
  // Returns the value by which choose() compares candidates, for one fit, or no value if the fit gives no hint. Smaller
  // is better; infinity is the worst. The value affects only the order of work.
  virtual std::optional<double> loss(const journal::FitRecord& fit) const = 0;
};

}  // namespace mokume::cluster
