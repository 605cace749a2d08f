// What the parts of a run over nodes speak about.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "journal/record.hpp"

namespace mokume::cluster {

// A device of one node as the others see it. It is known by its place in its node's list.
struct LocalDevice {
  std::string id;  // "opencl:0"
  std::string backend, name, vendor;
  std::string device_class;
  uint64_t budget_bytes = 0;
  double speed = 0;  // measured before the run, relative to other devices; 0: unknown. Never for results

  bool operator==(const LocalDevice&) const = default;
};

// Device class -> key -> value: everything measured that a result may depend on.
using ClassChoices = std::map<std::string, std::map<std::string, std::string>>;

// Fits that share work, as the model proposed them.
struct Bundle {
  std::vector<uint32_t> fits;
  double cost = 0;
  uint64_t bytes = 0;
};

// A bundle as it is handed to a device.
struct WorkItem {
  uint32_t bundle = 0;
  uint32_t attempt = 1;                 // from 1
  std::vector<uint32_t> fits;           // to do, in the bundle's order
  std::vector<uint32_t> done_fits;      // of the same bundle, finished before
  std::vector<std::string> done_notes;  // aligned with done_fits

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
  // Stop soon: throw Error(MK_CANCELLED) or return; what was reported stays.
  virtual bool cancelled() const = 0;
};

// A node's own side of a run.
struct AgentSetup {
  std::vector<LocalDevice> devices;
  // Runs one item on a device, on that device's thread; different devices at the same time. On return, every fit must
  // have been reported. An exception ends the whole run.
  std::function<void(uint32_t device, const WorkItem& item, Reporter& reporter)> work;
  // A fit of this node is on disk: what it kept for going on is not needed any more. Called on the journal's thread;
  // must not throw; may be empty.
  std::function<void(uint32_t fit)> on_durable = {};
};

// What rank 0 alone knows. Callbacks run on the thread of run() and must be quick.
struct CoordinatorSetup {
  uint32_t n_fits = 0;
  std::vector<Bundle> bundles;                               // every fit of the plan in exactly one
  std::vector<journal::FitRecord> done;                      // from the journals, one per fit
  std::function<void(const journal::FitRecord&)> on_record;  // a fit that was not done before is on disk; may be empty
  std::function<void(uint32_t node, uint32_t device, const std::string& what, double share)> on_device_state;  // same
  std::function<void(const journal::EventRecord&)> on_event = {};                                              // same
};

}  // namespace mokume::cluster
