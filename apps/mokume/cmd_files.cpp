// Implements the commands report, schema and init.

#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "commands.hpp"
#include "config/schema.hpp"
#include "node/experiment.hpp"
#include "report/pages/html.hpp"
#include "report/pages/write.hpp"
#include "run/run_directory.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "stored_run.hpp"

namespace mokume::app {

namespace {

// Waits for the interval between two reports, or until the run ends.
void wait_for_end(const std::string& directory) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(report::kRefreshSeconds);
  while (std::chrono::steady_clock::now() < until && run::is_held(directory))
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

int rebuild_report(Runtime& runtime, const std::string& directory, bool watch) {
  StoredRun(runtime, directory).warn();
  bool live = watch && run::is_held(directory);
  if (live)
    say(stderr, "{}/report.html is written every {} s until the run ends\n", directory, report::kRefreshSeconds);
  results::RunView view = run::write_tables(runtime.registry(), directory);
  report::write(view, directory, live);
  if (!live && !run::is_held(directory)) warn_of_skipped(runtime, view);
  while (live) {
    wait_for_end(directory);
    // This check comes before the files are read, so that a run that ends in between gets one more report.
    live = run::is_held(directory);
    view = run::write_tables(runtime.registry(), directory);
    report::write(view, directory, live);
  }
  std::fprintf(stderr, "report: %s/report.html\n", directory.c_str());
  return kDone;
}

int print_schema(Runtime& runtime) {
  std::map<std::string, config::ModelSchema> models;
  registry::Registry& registry = runtime.registry();
  for (const std::string& name : registry.available(MK_PLUGIN_MODEL))
    if (const registry::Library* library = registry.try_load(MK_PLUGIN_MODEL, name))
      models[name] = config::model_schema(*library->model());
  std::printf("%s\n", config::json_schema(models).c_str());
  return kDone;
}

int init_config(Runtime& runtime, const std::string& name) {
  std::string why;
  const auto schema = node::schema_lookup(runtime.registry())(name, {}, why);
  if (!schema) throw Error(MK_INVALID_ARGUMENT, why);  // same error as for a file that names this model
  std::fputs(config::starter_toml(name, *schema).c_str(), stdout);
  return kDone;
}

}  // namespace mokume::app
