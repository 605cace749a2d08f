// Computes fits and refits of a recorded run again, without its directory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/trace.hpp"
#include "node/experiment.hpp"
#include "node/local_session.hpp"
#include "node/machine.hpp"
#include "results/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::app {

// Holds the recorded run and the experiment, which both describe the same plan.
class RecordedFits {
 public:
  RecordedFits(const node::Experiment& experiment, const results::RunView& view);

  const node::Experiment& experiment() const { return experiment_; }
  const results::RunView& view() const { return view_; }

  // Returns the fits and refits with a result, in the order of the plan.
  std::vector<uint32_t> slots() const;
  // Returns the record of a fit or refit, or null if there is none with a result.
  const journal::FitRecord* find(uint32_t slot) const;
  // Returns the attempt that computes this fit or refit alone. As when a run resumes, the model gets the notes of the
  // other fits of its bundle.
  cluster::Attempt attempt_at(uint32_t slot) const;
  // Returns whether two records of a fit must have the same bits: those of one device class, and with strict numerics
  // all.
  bool must_be_equal(const journal::FitRecord& a, const journal::FitRecord& b) const;

 private:
  void add_note(uint32_t fit, cluster::Attempt& attempt) const;

  const node::Experiment& experiment_;
  const results::RunView& view_;
  std::map<uint32_t, const journal::FitRecord*> records_;
  std::vector<scheduler::Bundle> bundles_;
  std::map<uint32_t, size_t> bundle_of_;
};

// Names a device of this machine and the choices with which it computes.
struct Site {
  const node::Machine* machine;
  device::Listed listed;
  device::Choices choices;
  uint64_t budget_bytes;
};

// Computes on one device.
class Recomputation {
 public:
  // Opens the device. Throws Error if that is impossible, or if the device cannot follow the choices. `stop` cancels
  // compute(), as does a full trace. References must outlive the object.
  Recomputation(const RecordedFits& fits, const Site& site, const std::atomic<bool>& stop,
                device::Trace* trace = nullptr);

  // Returns the new record of a fit or refit, or nothing if a full trace has ended it early. Throws Error, with
  // MK_CANCELLED after a stop.
  std::optional<journal::FitRecord> compute(uint32_t slot);
  cluster::LocalDevice info() const { return session_.info(); }

 private:
  const RecordedFits& fits_;
  const std::atomic<bool>& stop_;
  device::Trace* trace_;
  node::LocalSession session_;
};

}  // namespace mokume::app
