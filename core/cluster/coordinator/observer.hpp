// The interfaces through which the coordinator queries and notifies its run. All calls come from the thread of
// cluster::run() and must be quick.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"

namespace mokume::cluster {

// Watches a run on node 0: its journal, its status file and its display. Overriding any of these functions is optional.
class Observer {
 public:
  virtual ~Observer() = default;
  // Another step of the run than fitting, for example "loading mnist".
  virtual void phase(const std::string& text) { static_cast<void>(text); }
  // A fit or refit is done for the first time.
  virtual void fit_done(const journal::FitRecord& record) { static_cast<void>(record); }
  // A fit failed for good, and this record of node 0 stands for it. fit_done() follows.
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

// The content of a refit, known once all fits of its bootstrap are done.
struct Refit {
  std::optional<uint32_t> candidate;  // empty if nothing can be trained
  std::string why;                    // one sentence why nothing can be trained
  std::optional<uint32_t> like;       // a fit of that candidate, if there is one
  std::vector<uint32_t> fits;         // the refit gets their notes, in this order
  double cost = 0;                    // in the unit of the workload's bundles
  uint64_t bytes = 0;
};

// The fixed rules that choose a refit from results: pure functions of the plan and the records.
class RefitRules {
 public:
  virtual ~RefitRules() = default;
  virtual Refit choose(uint32_t refit, const std::vector<journal::FitRecord>& fits) = 0;
  // The value by which choose() compares candidates, for one fit. Smaller is better; infinity is the worst. It affects
  // only the order of work. No value: the fit gives no hint about the order.
  virtual std::optional<double> loss(const journal::FitRecord& fit) const = 0;
};

}  // namespace mokume::cluster
