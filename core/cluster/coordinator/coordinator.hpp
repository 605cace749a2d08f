// Runs node 0's side of a run: tracks finished fits, leases, nodes and devices. The coordinator is a state machine
// without I/O, threads or clocks, which receives messages and times, and returns answers.
//
//   running --all fits and refits done--> ending --every live node said BYE--> over
//   running --STOP from any node, no device left, or an invalid message--> ending
//
// Late and duplicate messages are normal and never stop a run, because a lost node may return with results.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/coordinator/failures.hpp"
#include "cluster/coordinator/observer.hpp"
#include "cluster/protocol/messages.hpp"
#include "cluster/protocol/silence.hpp"
#include "journal/bounds.hpp"
#include "scheduler/policy.hpp"

namespace mokume::cluster {

struct Outgoing {
  Outgoing(uint32_t node, Message content) : to(node), message(std::move(content)) {}
  uint32_t to;
  Message message;
};

struct PlannedWork {
  uint32_t n_fits = 0;                                  // excludes refits, whose ids follow those of the fits
  scheduler::Workload bundles;                          // bundles that hold every fit of the plan exactly once
  std::vector<std::vector<uint32_t>> refit_after = {};  // fits on which each refit depends
  bool decides = false;  // results decide which fits are computed; the others wait for the decision of the rules
  std::vector<journal::FitRecord> done = {};     // records from the journals, one per fit
  std::map<uint32_t, uint32_t> attempts = {};    // last attempt of each slot, including slots that are not done
  journal::Bounds bounds = {};                   // bounds of records from other nodes; node 0 checks its own
  std::vector<scheduler::TimedWork> timed = {};  // measured times of earlier work, for predictions
};

class Coordinator {
 public:
  using Out = std::vector<Outgoing>;

  // `nodes` lists the devices of each node. The numbers in `absent` have no node. `rules` and the observers must
  // outlive the coordinator. Throws Error if a fit is in no bundle or in two, or if no device can hold any of the
  // remaining work.
  Coordinator(PlannedWork work, std::vector<std::vector<LocalDevice>> nodes, SearchRules& rules, Observers observers,
              const Limits& limits = {}, const std::set<uint32_t>& absent = {});

  // Handles a message and returns the answers. Times are monotonic, in seconds since the epoch. Only node 0 ever
  // receives a message that it did not request. An invalid message does not throw; it stops the run.
  Out handle(uint32_t from, const Message& message, double now);
  // Checks timeouts. Must be called first, and at every turn after all received messages are handled. `dead` lists the
  // nodes that the transport reports as dead, which need no timeout.
  Out tick(double now, const std::vector<uint32_t>& dead = {});

  bool over() const;
  const std::optional<Stop>& stopped() const { return stopped_; }  // no value unless the run was stopped
  std::vector<journal::FitRecord> records() const;                 // sorted by fit
  std::vector<uint32_t> lost() const;                              // nodes that are not responding now
  std::vector<uint32_t> retired(uint32_t node) const;              // devices of the node that get no more work

 private:
  struct Node {
    std::vector<LocalDevice> devices;
    uint32_t first_unit = 0;
    double heard = 0;  // time of the last message, on the clock of listening_
    bool lost = false, said_bye = false;
    std::set<uint64_t> cancel;  // unneeded leases that the node still works on
  };
  struct RunDevice {
    uint32_t node = 0, device = 0;
    bool retired = false;            // retired for its failures, not because its node is lost
    std::optional<uint32_t> probe;   // a fit that the unit's class has completed, as a test of the unit
    double rest_until = 0;           // time until which the unit gets no work, so that others may try first
    std::optional<uint64_t> lease;   // the open lease
    std::optional<uint64_t> orphan;  // reassigned lease of a lost node; it may still run and blocks new work
  };
  struct Lease {
    uint32_t unit = 0;
    uint32_t attempt = 0;
    std::vector<uint32_t> bundles;
    std::vector<uint32_t> fits;  // sorted
    bool open = true;            // the policy counts its bundles as held
    bool probe = false;          // the fit is already done; the lease tests the unit
    bool ended = false;          // the END of the lease has arrived
    std::set<uint32_t> coming;   // fits that were reported but are not on disk yet
    uint32_t own = 0;            // number of fits that no other lease reported first
  };
  struct Part {
    uint32_t origin = 0;           // index of the original bundle in the workload
    uint32_t failures = 0;         // number of failed leases that held this part
    bool alone = false;            // this part is never combined with others again
    std::string too_large;         // out-of-memory error of the device that could not hold it
    std::optional<uint32_t> next;  // part with the next fit of the same bundle
    bool held_back = false;        // waits for its predecessor, or for its refit's choice
    bool undecided = false;        // waits for a decision of the rules

    bool may_wait() const { return !held_back && !undecided; }  // for a device
  };

  uint32_t slots() const { return static_cast<uint32_t>(done_.size()); }
  bool is_refit(uint32_t fit) const { return fit >= work_.n_fits; }
  void index_bundles();
  uint32_t unit_index(uint32_t node, uint32_t device) const;
  const LocalDevice& device(const RunDevice& unit) const { return nodes_[unit.node].devices[unit.device]; }
  std::string place(const RunDevice& unit) const;  // "opencl:0 of node 1"
  uint64_t largest_budget(bool lost) const;        // largest among working devices, on lost or on present nodes
  Lease& lease(uint32_t node, uint64_t id);
  bool is_over(uint32_t fit) const { return done_[fit] || coming_[fit] > 0; }
  std::vector<uint32_t> left(const std::vector<uint32_t>& fits) const;
  bool is_held(uint32_t bundle) const;
  bool has_notes_coming(uint32_t bundle) const;
  Attempt attempt_at(const std::vector<uint32_t>& bundles) const;
  void count(journal::FitRecord record);
  void supersede(const journal::FitRecord& record) const;  // tells the observers that an earlier record counts

  void take(uint32_t from, const Request& request, Out& out);
  void take(uint32_t from, const Done& done, Out& out);
  void take(uint32_t from, const LeaseEnd& end, Out& out);
  void take(uint32_t from, const Heartbeat& beat, Out& out);
  void take(uint32_t from, const Stop& why, Out& out);
  void take(uint32_t from, const Bye& bye, Out& out);
  template <class Unexpected>
  void take(uint32_t from, const Unexpected& unexpected, Out& out);
  void take_record(uint32_t from, Lease& lease, journal::FitRecord record);
  std::optional<Grant> grant(uint32_t unit, uint32_t device);
  Grant open_lease(uint32_t unit, uint32_t device, const std::vector<uint32_t>& bundles, Attempt attempt, bool probe);
  std::optional<scheduler::Pick> choose_after_failure(uint32_t unit);
  void close(Lease& lease, double seconds);
  void answer_ended(uint32_t to, Out& out) const;
  void settle(Out& out);
  void end(std::optional<Stop> why, Out& out);

  // coordinator_refits.cpp defines the functions for refits.
  static scheduler::Workload with_refits(const PlannedWork& work);
  void index_refits();
  void note_ready(uint32_t fit);
  void fill_refits();

  // coordinator_decisions.cpp defines the functions for a search in which results decide.
  void decide_at_start();
  void decide_when_idle();
  void decide();
  void begin(const std::vector<uint32_t>& fits);
  void release(uint32_t bundle);
  bool is_dropped(uint32_t fit) const;
  void drop(uint32_t fit, bool recorded);

  // coordinator_nodes.cpp defines the functions for nodes that leave and return.
  void mark_alive(uint32_t from);
  void lose(uint32_t node, const std::string& text);
  void is_free(uint32_t unit);  // ends the unit's orphaned lease
  void cancel_orphans();

  // coordinator_failures.cpp defines the functions for failures.
  void fail(const Lease& lease, const std::vector<uint32_t>& fits, const LeaseEnd& end);
  void count_failures(const Lease& lease, const std::vector<uint32_t>& fits, const std::string& text);
  void move_to_larger(const Lease& lease, const std::vector<uint32_t>& fits, const std::string& text);
  void quarantine(uint32_t unit, const std::string& text);
  std::optional<uint32_t> probe_for(uint32_t unit) const;
  Attempt probe_attempt(uint32_t fit) const;
  void end_probe(const Lease& lease, const LeaseEnd& end);
  void hang(uint64_t id, double quiet_s);
  void take_apart(uint32_t bundle);
  bool release_next(uint32_t bundle);  // returns whether a part was released
  void retire(uint32_t unit, const std::string& text);
  void give_up(uint32_t fit, const std::string& text);
  void give_up_blocklisted(Out& out);
  bool probe_before_giving_up();
  bool is_last(uint32_t unit) const;  // returns whether no other unit works
  void check_placeable() const;
  void give_up_unplaceable(Out& out);
  void stop_without_devices(Out& out);
  bool is_work_left() const;
  void note(journal::EventRecord::Kind kind, const RunDevice* unit, uint32_t node, int64_t fit, uint32_t attempt,
            const std::string& text) const;

  PlannedWork work_;
  SearchRules& rules_;
  const Observers observers_;
  const Limits limits_;
  std::vector<Node> nodes_;
  std::vector<RunDevice> units_;
  scheduler::Policy policy_;
  std::vector<Part> parts_;                              // indexed by bundle
  std::vector<uint32_t> bundle_of_;                      // indexed by fit
  std::vector<std::optional<journal::FitRecord>> done_;  // indexed by fit
  std::vector<uint32_t> coming_;                         // number of leases whose record of the fit is not on disk yet
  std::vector<uint32_t> attempts_;                       // last attempt of each fit
  std::set<uint32_t> unneeded_;                          // fits that are done without a record
  uint32_t n_done_ = 0;
  std::vector<uint32_t> fits_before_;                 // number of fits that each refit still waits for
  std::vector<std::vector<uint32_t>> refits_behind_;  // refits that wait for each fit
  std::vector<uint32_t> ready_;                       // refits whose candidate can be chosen
  std::vector<std::optional<uint32_t>> refit_of_;     // candidate of each refit
  std::vector<std::vector<uint32_t>> noted_fits_;     // fits whose notes each refit gets
  std::vector<bool> may_begin_;                       // indexed by fit; empty unless results decide
  bool is_news_ = true;                               // the rules have not seen the last record
  std::map<uint64_t, Lease> leases_;                  // includes ended leases, whose results may arrive late
  uint64_t next_lease_ = 1;

  Failures failures_;
  std::map<uint32_t, std::string> blocklist_;  // the last error of each fit that failed too often
  std::set<uint32_t> given_up_;                // fits that this node recorded as failed
  Stop last_error_{MK_DEVICE_ERROR, "no device is left"};
  bool placement_changed_ = true;

  Listening listening_;
  double now_ = 0;
  bool ending_ = false;
  std::optional<Stop> stopped_;
};

}  // namespace mokume::cluster
