// Ends a run on node 0: counts the journal records, names the models, takes the vote of an ensemble and writes the
// tables.
#pragma once

#include "base/log.hpp"
#include "cluster/run.hpp"
#include "journal/journal.hpp"
#include "node/experiment.hpp"
#include "registry/registry.hpp"
#include "run/recorded_run.hpp"
#include "run/run.hpp"

namespace mokume::run {

struct Finishing {
  registry::Registry& registry;
  base::Log& log;
  const RunRequest& request;
  const node::Experiment& experiment;
  RecordedRun& recorded;
  journal::Journal& journal;
  const cluster::Observers& observers;
  Frontend& frontend;
};

// Finishes the run and closes the journal. `choices` holds the choices that the models have recorded so far.
RunResult finish(const Finishing& run, const cluster::Outcome& outcome, const cluster::ClassChoices& choices);

}  // namespace mokume::run
