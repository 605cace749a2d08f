// What the parts of a run over nodes speak about.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/transport/side_channel.hpp"
#include "journal/record.hpp"
#include "scheduler/policy.hpp"

namespace mokume::cluster {

// A device of one node as the others see it. It is known by its place in its node's list.
struct LocalDevice {
  std::string id;  // "opencl:0"
  std::string backend, name, vendor;
  std::string device_class;
  uint64_t budget_bytes = 0;
  double speed = 0;    // measured before the run, relative to other devices; 0: unknown. Never for results
  bool spare = false;  // it computes on the cores of faster devices of its node: see scheduler::Unit

  bool operator==(const LocalDevice&) const = default;
};

// Device class -> key -> value: everything measured that a result may depend on.
using ClassChoices = std::map<std::string, std::map<std::string, std::string>>;

// What is handed to a device: pieces of the workload that share work.
struct WorkItem {
  uint32_t bundle = 0;                  // index of the first piece
  uint32_t attempt = 1;                 // from 1
  std::vector<uint32_t> fits;           // to do, in the pieces' order
  std::vector<uint32_t> done_fits;      // of the same pieces, finished before
  std::vector<std::string> done_notes;  // aligned with done_fits
  bool backup = false;                  // another device is at these fits too; the first result counts
  std::optional<uint32_t> refit = {};   // a refit, alone in `fits`, of this candidate

  bool operator==(const WorkItem&) const = default;
};

// How work talks back while it runs. Used on the feeder's thread only.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // A finished fit of this item, once each; node, device, bundle, attempt and times are filled in here: start_s is the
  // start of the bundle's work, end_s is now. Returns before it is on disk. Throws Error if the fit is not of this
  // item or was reported before, or if the journal has failed.
  virtual void report(const journal::FitRecord& record) = 0;
  // What is being done and the share of this item in [0, 1]. Cheap.
  virtual void progress(const std::string& what, double share) = 0;
  // This item is not wanted any more: throw Error(MK_CANCELLED) or return soon; what was reported stays.
  virtual bool cancelled() const = 0;
};

// A device from which nothing was heard for this long has stopped working; so has a node. Seconds.
inline constexpr double k_lease_s = 30;
inline constexpr double k_beat_s = 0.5;  // so often a node says that it lives
inline constexpr double k_hang_s = 600;
// Until work that was broken off must have returned.
inline constexpr double k_break_off_s = 30;

// A node's own side of a run.
struct AgentSetup {
  std::vector<LocalDevice> devices;
  // Runs one item on a device, on that device's thread; different devices at the same time. On return, every fit must
  // have been reported. What it throws fails this item, which is then tried again, here or elsewhere; but an Error of
  // MK_BAD_DATA or MK_INVALID_ARGUMENT, or a wrong report, would come again everywhere: it ends the run.
  std::function<void(uint32_t device, const WorkItem& item, Reporter& reporter)> work;
  // A fit of this node is on disk: what it kept for going on is not needed any more. Called on the journal's thread;
  // must not throw; may be empty.
  std::function<void(uint32_t fit)> on_durable = {};
  // The work on this device hangs: end it by force, so that work() throws. False if that cannot be done. On the thread
  // of run(); must not throw; may be empty.
  std::function<bool(uint32_t device)> break_off = {};
  // Work hangs at the end of the run and was left running: this setup, the journal and all that the work uses must live
  // until the process ends, by _exit. On the thread of run(); may be empty.
  std::function<void()> on_abandoned = {};
  // Carried beside the messages; null: nothing is. It outlives the run.
  SideChannel* side = nullptr;
  double lease_s = k_lease_s;  // node 0 is lost after twice this silence
  double hang_s = k_hang_s;    // work that gives no sign of life for this long is not waited for at the end
};

// What a refit trains, once all fits of its bootstrap are done.
struct Refit {
  std::optional<uint32_t> candidate;  // none: nothing can be trained
  std::string why;                    // then: one sentence
  std::optional<uint32_t> like;       // a fit of that candidate, if there is one
  double cost = 0;                    // as of a piece of the workload
  uint64_t bytes = 0;
};

// What rank 0 alone knows. Callbacks run on the thread of run() and must be quick.
struct CoordinatorSetup {
  uint32_t n_fits = 0;                                  // without the refits, whose ids follow on those of the fits
  scheduler::Workload workload;                         // every fit of the plan in exactly one piece
  std::vector<std::vector<uint32_t>> refit_after = {};  // by refit: the fits that come first
  std::function<Refit(uint32_t refit, const std::vector<journal::FitRecord>& fits)> choose_refit = {};
  // What choose_refit() looks at, smaller is better, infinite if there is nothing: for the order of work. May be empty.
  std::function<double(const journal::FitRecord& fit)> loss = {};
  std::vector<journal::FitRecord> done;                      // from the journals, one per fit
  std::map<uint32_t, uint32_t> attempts = {};                // by slot, the last there was, also of those not done
  std::vector<scheduler::TimedWork> timed;                   // what these took: later ones take as long
  std::function<void(const journal::FitRecord&)> on_record;  // a fit that was not done before is done; may be empty
  std::function<void(uint32_t node, uint32_t device, const std::string& what, double share)> on_device_state;  // same
  std::function<void(const journal::EventRecord&)> on_event = {};                                              // same
  // A fit failed for good without a result of its model: this record, of rank 0, stands for it. run() puts it into the
  // journal. May be empty.
  std::function<void(const journal::FitRecord&)> on_given_up = {};
  double lease_s = k_lease_s;  // a node is lost after this silence
  double hang_s = k_hang_s;    // a device hangs after this silence, or ten times what its work should take if longer
};

}  // namespace mokume::cluster
