// Runs the fits of an attempt by calling the model, which trains and validates them.
#pragma once

#include <string>

#include "cluster/agent/executor.hpp"
#include "node/experiment.hpp"
#include "sdk/scope.hpp"

namespace mokume::node {

struct OpenModel {
  const Experiment& experiment;
  mk_session* session;
  const mk_device_services* device;
  std::string run_directory;  // directory for unfinished fits and models, or "" to store none
  bool leads = true;          // false for a member of a team whose reports do not count

  // Returns the directory for the recovery data of a fit, or "" if there is none: if several devices work on the fit,
  // the directory belongs to the first one.
  std::string scratch(const cluster::Attempt& attempt, uint32_t fit) const;

  // Counts time outside the model's own phases towards `name` until the end of the block.
  sdk::Scope phase(const char* name) const { return {device, MK_SCOPE_PHASE, name}; }
};

// Trains, validates and reports every fit of the attempt.
void fit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter);

}  // namespace mokume::node
