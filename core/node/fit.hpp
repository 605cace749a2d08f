// Runs the fits of an attempt: the model call that trains and validates them.
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
  std::string run_directory;  // holds unfinished fits and models; "": none are stored

  // Returns the directory for the recovery data of a fit. "": none, since the directory belongs to the first of several
  // devices that work on the fit.
  std::string scratch(const cluster::Attempt& attempt, uint32_t fit) const;

  // Until the end of the block, time outside the model's own phases counts towards `name`.
  sdk::Scope phase(const char* name) const { return {device, MK_SCOPE_PHASE, name}; }
};

// Trains, validates and reports every fit of the attempt.
void fit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter);

}  // namespace mokume::node
