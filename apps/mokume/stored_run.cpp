#include "stored_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "node/experiment.hpp"
#include "run/run_directory.hpp"

namespace mokume::app {
namespace {

namespace fs = std::filesystem;

base::Below config_file(const std::string& directory) { return {directory, "config.resolved.toml"}; }

std::vector<std::string> unsearched_of(Runtime& runtime, const std::string& directory) {
  run::require_run_directory(directory);
  run::check_config_file(directory, run::read_run_record(directory));
  WaryLookup lookup(runtime);
  const base::Below file = config_file(directory);
  config::parse(base::read_file(file, 1U << 21), file.path(), {}, lookup.function(), config::Origin::run);
  return lookup.unsearched();
}

// Returns whether one of the directories contains this library, without opening anything.
bool holds(const std::vector<std::string>& directories, const std::string& library) {
  std::error_code ignored;
  return std::any_of(directories.begin(), directories.end(),
                     [&](const std::string& directory) { return fs::exists(fs::path(directory) / library, ignored); });
}

}  // namespace

config::SchemaLookup WaryLookup::function() {
  return [this](const std::string& model, const std::vector<std::string>& directories, std::string& why) {
    asked_ = true;
    model_ = model;
    unsearched_ = runtime_.unsearched(directories);
    auto schema = node::schema_lookup(runtime_.registry())(model, directories, why);
    found_ = schema.has_value();
    why_ = why;
    return schema;
  };
}

StoredRun::StoredRun(Runtime& runtime, const std::string& directory, const RunOptions& options,
                     const std::vector<std::string>& others)
    : runtime_(runtime), directory_(directory), unsearched_(unsearched_of(runtime, directory)) {
  for (const std::string& other : others)
    for (const std::string& one : unsearched_of(runtime, other))
      if (std::find(unsearched_.begin(), unsearched_.end(), one) == unsearched_.end()) unsearched_.push_back(one);
  const base::Below place = config_file(directory);
  const std::string file = place.path();
  WaryLookup lookup(runtime);
  std::string text;
  const auto find = lookup.function();
  // Without its model, a file produces only errors that follow from the missing model.
  config::parse(base::read_file(place, 1U << 21), file, {}, find, config::Origin::run);
  if (lookup.missing() && unsearched_.empty()) throw Error(MK_DEVICE_ERROR, directory + ": " + lookup.why());
  if (lookup.missing())
    throw Error(MK_DEVICE_ERROR, fmt::format("the model '{}' of {} is in none of the searched directories, and {}",
                                             lookup.model(), directory, cure()));
  const auto config = read_config(find, file, options, text, config::Origin::run);
  if (!config)
    throw Error(MK_INVALID_ARGUMENT, options.devices ? directory + " cannot be used with this --devices"
                                                     : file + " is damaged: restore it, or start a new run");
  config_ = *config;
  config_.plugin_directories = runtime.named_directories();
}

StoredRun::StoredRun(Runtime& runtime, const std::string& directory, const node::ModelInputs& inputs)
    : runtime_(runtime), directory_(directory) {
  config_.model = inputs.model;
  config_.data = inputs.data;
  config_.plugin_directories = runtime.named_directories();
}

void StoredRun::warn() const {
  if (unsearched_.empty()) return;
  if (const std::string model = "plugins/" + config_.model + ".so"; holds(unsearched_, model))
    runtime_.log().warn("run", fmt::format("{} has its own model '{}', but another one is used: {}", directory_,
                                           config_.model, cure()));
}

void StoredRun::warn_of_backends() const {
  if (unsearched_.empty()) return;
  const std::vector<std::string> known = runtime_.registry().available(MK_PLUGIN_BACKEND);
  std::set<std::string> lacking;
  for (const auto& device : run::read_run_record(directory_).devices) {
    const std::string& backend = device.backend;
    const bool wanted_by_name = config_.devices.find(backend) != std::string::npos;  // with_devices() explains it
    if (std::find(known.begin(), known.end(), backend) == known.end() && !wanted_by_name &&
        holds(unsearched_, "backends/" + backend + ".so"))
      lacking.insert(backend);
  }
  for (const std::string& backend : lacking)
    runtime_.log().warn("run", fmt::format("{} used devices of the backend '{}', and {}", directory_, backend, cure()));
}

std::string StoredRun::cure() const {
  const bool one = unsearched_.size() == 1;
  std::vector<std::string> names;
  for (const std::string& directory : unsearched_) names.push_back(shown(directory));
  return fmt::format("the {} {}, which the run recorded, {} not searched until the command names {} again: {}",
                     one ? "directory" : "directories", fmt::join(names, " and "), one ? "is" : "are",
                     one ? "it" : "them", runtime_.command().with_plugins(unsearched_));
}

}  // namespace mokume::app
