// status, explain, compare: run directories, live or dead.
#include <cstdio>

#include "commands.hpp"
#include "experiment/compare.hpp"
#include "experiment/explain.hpp"
#include "experiment/inspect.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

experiment::Inspection inspect(Runtime& runtime, const std::string& directory,
                               const std::vector<std::string>& others = {}) {
  StoredRun(runtime, directory, {}, others).warn();
  return experiment::inspect(runtime.registry(), directory);
}

}  // namespace

int show_status(Runtime& runtime, const std::string& directory, bool json) {
  const experiment::Inspection run = inspect(runtime, directory);
  const std::string text = json ? experiment::status_json(run).dump(2) + "\n" : experiment::status_text(run);
  std::fputs(text.c_str(), stdout);
  return kDone;
}

int explain(Runtime& runtime, const std::string& directory, const std::string& fit) {
  const experiment::Inspection run = inspect(runtime, directory);
  const std::string text = fit.empty() ? experiment::explain_run(run)
                                       : experiment::explain_fit(run, experiment::parse_fit(run.view.plan, fit));
  std::fputs(text.c_str(), stdout);
  return kDone;
}

int compare(Runtime& runtime, const std::string& a, const std::string& b) {
  const experiment::Inspection of_a = inspect(runtime, a, {b});
  std::fputs(experiment::compare_text(of_a, inspect(runtime, b, {a})).c_str(), stdout);
  return kDone;
}

}  // namespace mokume::app
