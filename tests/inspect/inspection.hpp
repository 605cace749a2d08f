// Makes runs for tests of inspection, with three candidates and two folds.
#pragma once

#include "inspect/inspect.hpp"
#include "support/expect.hpp"
#include "support/records.hpp"

namespace mokume::inspect::testing {

// Returns a run in which four of six fits are done.
inline Inspection running() {
  Inspection run;
  run.directory = "runs/tiny/1";
  results::RunView& view = run.view;
  view.name = "tiny";
  view.state = "running";
  view.plan.params = {"C"};
  view.plan.candidates = {{0.1}, {1.0}, {10.0}};
  view.plan.folds = 2;
  view.metrics = {{"errors", true, false}, {"error", false, true}};
  for (uint32_t fit = 0; fit < 4; ++fit) view.records.push_back(test::fit_record(fit));
  view.devices = {{0, "opencl:0", "opencl", "Card", "Maker", 4, 5.5, 1},
                  {1, "host:0", "host", "CPU", "Maker", 0, 0, 1}};
  run.now_s = 1100;
  run::LiveStatus last;
  last.time_s = 1098;
  last.host = "somewhere";
  last.pid = 77;
  last.phase = "fits";
  last.fits = 6;
  last.done = 4;
  last.eta_s = 190;
  last.devices = {{0, "opencl:0", "Card", 8ULL << 30, "working", "C = 10", 0.45, 1088},
                  {1, "host:0", "CPU", 2ULL << 30, "idle", "", 0, 1090}};
  run.last = last;
  run.bundles = {{{0, 1}, 9, 1 << 20, 0}, {{2, 3}, 5, 1 << 20, 1}, {{4}, 1, 1 << 20, 2}, {{5}, 2, 4ULL << 30, 3}};
  run.live = true;
  return run;
}

inline Inspection killed() {
  Inspection run = running();
  run.live = false;
  return run;
}

}  // namespace mokume::inspect::testing
