// Shows the current state of a run to `mokume status` and `mokume explain` in another process. Rank 0 writes
// logs/status.json every few seconds at most, and logs/pieces.json once per session. Neither file affects results, and
// a failure to write them does not stop the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/below.hpp"
#include "cluster/coordinator/observer.hpp"
#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"
#include "run/eta.hpp"
#include "scheduler/policy.hpp"

namespace mokume::run {

struct DeviceStatus {
  uint32_t node = 0;
  std::string id, name;
  uint64_t budget_bytes = 0;
  std::string state = "idle";  // idle | working | retired | lost
  std::string what;            // the model's description of its work; the reason if retired or lost
  double share = 0;            // finished part of the work, in [0, 1]
  double since_s = 0;          // start of this state, in seconds since the epoch

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("node", self.node);
    field("id", self.id);
    field("name", self.name);
    field("budget_bytes", self.budget_bytes);
    field("state", self.state);
    field("what", self.what);
    field("share", self.share);
    field("since", self.since_s);
  }
};

struct LiveStatus {
  double time_s = 0;  // time of writing, in seconds since the epoch
  std::string host;   // host name of rank 0
  int64_t pid = 0;    // process id of rank 0
  std::string phase;  // "fits", or a later phase
  uint64_t fits = 0, done = 0, failed = 0;
  std::optional<double> eta_s;  // seconds left for the fits; no value while unknown
  std::vector<DeviceStatus> devices;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("time", self.time_s);
    field("host", self.host);
    field("pid", self.pid);
    field("phase", self.phase);
    field("fits", self.fits);
    field("done", self.done);
    field("failed", self.failed);
    field("eta_s", self.eta_s);
    field("devices", self.devices);
  }
};

// Only one thread of rank 0 may use it.
class StatusFile : public cluster::Observer {
 public:
  // `now` returns seconds since the epoch; `workload` and `chances` are those for Eta. Writes the initial state.
  StatusFile(std::string run_directory, const std::vector<std::vector<cluster::LocalDevice>>& nodes, uint64_t fits,
             const std::vector<journal::FitRecord>& done, std::function<double()> now,
             const scheduler::Workload& workload = {}, const std::vector<double>& chances = {});

  void phase(const std::string& text) override;  // writes the file immediately
  void fit_done(const journal::FitRecord& record) override;
  void event(const journal::EventRecord& event) override;
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override;

  std::optional<double> seconds_left() const;  // no value while unknown

 private:
  struct Lane {
    DeviceStatus status;
    std::string device_class;
    bool spare = false;
    double heard_s = 0;
    double before = -1;  // share that an earlier session did; -1 before the first report
  };
  LiveStatus snapshot() const;
  void write_if_due();
  void write();

  base::Below file_;
  std::function<double()> now_;
  LiveStatus status_;
  std::vector<std::vector<Lane>> lanes_;  // indexed by node and device
  Eta eta_;
  double written_s_ = 0;
};

// Returns nothing if there is no such file, or one of another version. Throws Error(MK_BAD_DATA) for a damaged file.
std::optional<LiveStatus> read_live_status(const std::string& run_directory);

// Removes the file of an earlier session, so that nobody takes it for the state of the next session.
void remove_live_status(const std::string& run_directory);

// Writes the bundles of a session with the memory needs and estimated costs of their fits.
void write_bundles(const std::string& run_directory, const std::vector<scheduler::Bundle>& bundles);
std::vector<scheduler::Bundle> read_bundles(const std::string& run_directory);  // empty if there is no file

// Returns the model's cost of each of `n_fits` fits, an equal part of the cost of its bundle; nothing without bundles.
std::vector<double> cost_by_fit(const std::vector<scheduler::Bundle>& bundles, uint32_t n_fits);

}  // namespace mokume::run
