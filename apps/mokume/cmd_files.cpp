// report, schema, init: run directories and files.

#include <cstdio>
#include <map>

#include "commands.hpp"
#include "experiment/run.hpp"
#include "experiment/run_directory.hpp"
#include "sdk/error.hpp"

namespace mokume::app {

experiment::Config config_of(Runtime& runtime, const std::string& directory) {
  experiment::require_run_directory(directory);
  const std::string file = directory + "/config.resolved.toml";
  std::string text;
  const auto config = read_config(runtime, file, {}, text);
  if (!config) throw Error(MK_INVALID_ARGUMENT, file + " is damaged: restore it, or start a new run");
  return *config;
}

int rebuild_report(Runtime& runtime, const std::string& directory) {
  const experiment::Config config = config_of(runtime, directory);
  experiment::rebuild_report(runtime.registry(config.plugin_directories), directory);
  std::fprintf(stderr, "report: %s/report.html\n", directory.c_str());
  return kDone;
}

int print_schema(Runtime& runtime) {
  std::map<std::string, experiment::ModelSchema> models;
  registry::Registry& registry = runtime.registry();
  for (const std::string& name : registry.available(MK_PLUGIN_MODEL))
    if (const registry::Library* library = registry.try_load(MK_PLUGIN_MODEL, name))
      models[name] = {library->model()->params, library->model()->n_params};
  std::printf("%s\n", experiment::json_schema(models).c_str());
  return kDone;
}

int init_config(Runtime& runtime, const std::string& name) {
  const mk_model& model = *runtime.registry().load(MK_PLUGIN_MODEL, name).model();
  std::fputs(experiment::starter_toml(name, {model.params, model.n_params}).c_str(), stdout);
  return kDone;
}

}  // namespace mokume::app
