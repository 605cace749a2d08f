// The commands report, schema and init, for run directories and files.

#include <cstdio>
#include <map>

#include "commands.hpp"
#include "config/schema.hpp"
#include "config/starter.hpp"
#include "node/experiment.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "stored_run.hpp"

namespace mokume::app {

int rebuild_report(Runtime& runtime, const std::string& directory) {
  StoredRun(runtime, directory).warn();
  run::rebuild_report(runtime.registry(), directory);
  std::fprintf(stderr, "report: %s/report.html\n", directory.c_str());
  return kDone;
}

int print_schema(Runtime& runtime) {
  std::map<std::string, config::ModelSchema> models;
  registry::Registry& registry = runtime.registry();
  for (const std::string& name : registry.available(MK_PLUGIN_MODEL))
    if (const registry::Library* library = registry.try_load(MK_PLUGIN_MODEL, name))
      models[name] = config::model_schema({library->model()->params, library->model()->n_params});
  std::printf("%s\n", config::json_schema(models).c_str());
  return kDone;
}

int init_config(Runtime& runtime, const std::string& name) {
  std::string why;
  const auto schema = node::schema_lookup(runtime.registry())(name, {}, why);
  if (!schema) throw Error(MK_INVALID_ARGUMENT, why);  // as for a file that names this model
  std::fputs(config::starter_toml(name, *schema).c_str(), stdout);
  return kDone;
}

}  // namespace mokume::app
