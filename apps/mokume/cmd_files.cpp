// report, predict, schema, init: run directories and files.

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "data/spec.hpp"
#include "experiment/machine.hpp"
#include "experiment/prediction.hpp"
#include "experiment/prepared.hpp"
#include "experiment/run.hpp"
#include "experiment/run_directory.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

// A regression's predictions, beside the targets if the rows have any.
void print_numbers(const std::vector<float>& predicted, const std::vector<float>& targets) {
  std::printf(targets.empty() ? "row,predicted\n" : "row,predicted,target\n");
  double sum = 0;
  for (size_t r = 0; r < predicted.size(); ++r) {
    if (targets.empty()) {
      say(stdout, "{},{}\n", r, predicted[r]);
      continue;
    }
    const double off = static_cast<double>(predicted[r]) - static_cast<double>(targets[r]);
    sum += off * off;
    say(stdout, "{},{},{}\n", r, predicted[r], targets[r]);
  }
  if (!targets.empty())
    std::fprintf(stderr, "mse: %.6g of %zu\n", sum / static_cast<double>(predicted.size()), predicted.size());
}

}  // namespace

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

int predict(Runtime& runtime, const std::string& directory, const std::string& spec, const std::string& devices) {
  const experiment::Config config = config_of(runtime, directory);
  registry::Registry& registry = runtime.registry(config.plugin_directories);
  const mk_model& model = *registry.load(MK_PLUGIN_MODEL, config.model).model();
  const std::string path = directory + "/models/best";
  if (std::error_code error; !std::filesystem::exists(path, error))
    throw Error(MK_INVALID_ARGUMENT,
                directory + " holds no model yet: finish the run with `mokume resume " + directory + "`");
  mk_fitted* raw = nullptr;
  try {
    sdk::call(model.load, model.self, path.c_str(), &raw);
  } catch (const Error& e) {
    if (e.status() != MK_BAD_DATA) throw;
    throw Error(MK_BAD_DATA, fmt::format("{} (remove {}, and `mokume resume {}` trains the model again)", e.what(),
                                         path, directory));
  }
  const auto destroy = [&](mk_fitted* f) { model.fitted_destroy(f); };
  const std::unique_ptr<mk_fitted, decltype(destroy)> fitted(raw, destroy);
  mk_data about{};
  const double *mean = nullptr, *scale = nullptr;
  uint32_t n_scaling = 0;
  if (model.describe(raw, &about, &mean, &scale, &n_scaling) != MK_OK)
    throw Error(MK_INTERNAL, "the model cannot describe itself");
  std::vector<std::string> names(about.class_names, about.class_names + about.n_classes);
  const data::Dataset rows = data::load_for_prediction(
      data::parse_spec(spec, &config.data), names, {mean, mean + n_scaling}, {scale, scale + n_scaling}, about.features,
      columns_of(experiment::read_run_record(directory)));

  const experiment::Machine machine(registry, runtime.log());
  const std::vector<device::Listed> chosen{machine.select(devices).front()};
  const auto opened = machine.open(chosen[0], {}, experiment::Machine::budgets(chosen, 1, config.memory_bytes)[0]);
  if (names.empty()) {
    print_numbers(experiment::predict_targets(model, raw, opened->services(), rows.train), rows.train.targets);
    return kDone;
  }
  std::vector<int32_t> labels(static_cast<size_t>(rows.train.rows));
  sdk::call(model.predict, model.self, static_cast<const mk_fitted*>(raw), opened->services(), rows.train.x.data(),
            rows.train.rows, rows.train.features, labels.data(), static_cast<float*>(nullptr));

  const bool known = !rows.train.labels.empty();
  std::printf(known ? "row,predicted,label\n" : "row,predicted\n");
  int64_t errors = 0;
  for (size_t r = 0; r < labels.size(); ++r) {
    const std::string& predicted = names[static_cast<size_t>(labels[r])];
    if (!known) {
      std::printf("%zu,%s\n", r, predicted.c_str());
      continue;
    }
    const int32_t label = rows.train.labels[r];
    errors += label != labels[r] ? 1 : 0;
    std::printf("%zu,%s,%s\n", r, predicted.c_str(), label < 0 ? "" : names[static_cast<size_t>(label)].c_str());
  }
  if (known) std::fprintf(stderr, "errors: %lld of %zu\n", static_cast<long long>(errors), labels.size());
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
