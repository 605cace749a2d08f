// Implements the commands status, explain and compare, for runs that are alive or not.
#include <cstdio>

#include "commands.hpp"
#include "inspect/compare.hpp"
#include "inspect/explain.hpp"
#include "inspect/inspect.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

inspect::Inspection inspect(Runtime& runtime, const std::string& directory,
                            const std::vector<std::string>& others = {}) {
  StoredRun(runtime, directory, {}, others).warn();
  inspect::Inspection run = inspect::inspect(runtime.registry(), directory);
  if (!run.live) warn_of_skipped(runtime, run.view);
  return run;
}

}  // namespace

void warn_of_skipped(Runtime& runtime, const results::RunView& view) {
  for (const std::string& notice : view.notices) runtime.log().warn("journal", notice);
}

int show_status(Runtime& runtime, const std::string& directory, bool json) {
  const inspect::Inspection run = inspect(runtime, directory);
  const std::string text = json ? inspect::status_json(run).dump(2) + "\n" : inspect::status_text(run);
  show(stdout, text);
  return kDone;
}

int explain(Runtime& runtime, const std::string& directory, const std::string& fit) {
  const inspect::Inspection run = inspect(runtime, directory);
  const std::string text =
      fit.empty() ? inspect::explain_run(run) : inspect::explain_fit(run, inspect::parse_fit(run.view.plan, fit));
  show(stdout, text);
  return kDone;
}

int compare(Runtime& runtime, const std::string& a, const std::string& b) {
  const inspect::Inspection of_a = inspect(runtime, a, {b});
  const inspect::Comparison comparison = inspect::compare(of_a, inspect(runtime, b, {a}));
  show(stdout, comparison.text);
  return comparison.same_fits ? kDone : kDiffers;
}

}  // namespace mokume::app
