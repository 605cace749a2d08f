// Implements export --provenance, which writes a run's results, models and their origin for other people's tools.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "config/resolved.hpp"
#include "provenance/crate_directory.hpp"
#include "provenance/metadata.hpp"
#include "provenance/signature.hpp"
#include "results/tables.hpp"
#include "run/run_directory.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

void require_end(const std::string& directory, const run::RunRecord& record) {
  if (record.state == "done" || record.state == "failed fits") return;
  throw Error(MK_INVALID_ARGUMENT,
              fmt::format("{} is unfinished, so its results may still change: `mokume resume {}` finishes it",
                          directory, directory));
}

// Returns the experiment in the form that a reader can run in a folder that also holds the data.
std::string experiment_of(config::Config config) {
  config.plugin_directories.clear();
  config.output = config::Config().output;
  return without_places(config::to_toml(config));
}

// A line of SHA256SUMS and an identifier in the description hold these characters as they are.
bool is_plain(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

void copy_model(const base::Below& model, const CrateDirectory& crate) {
  base::check_sums(model.path());
  for (const std::string& name : base::names_in(model)) {
    if (!is_plain(name))
      throw Error(MK_BAD_DATA, fmt::format("{} has a file that no model has: remove '{}'", model.path(),
                                           base::without_controls(name)));
    crate.copy({model.root, model.name + "/" + name}, model.name + "/" + name);
  }
}

void copy_models(const std::string& run, const CrateDirectory& crate) {
  for (const std::string& name : base::names_in({run, "models"})) {
    if (name == "vote.json") crate.copy({run, "models/vote.json"}, "models/vote.json");
    if (name == "best" || name.starts_with("member-")) {
      if (!is_plain(name))
        throw Error(MK_BAD_DATA, fmt::format("{}/models has no member '{}'", run, base::without_controls(name)));
      copy_model({run, "models/" + name}, crate);
    }
  }
}

// Copies what a run has besides tables and models. The tables come from the journal, whose lines have checksums.
void copy_others(const std::string& run, const CrateDirectory& crate) {
  constexpr std::array kOthers = {"out_of_fold.csv", "out_of_fold.json", "nested.json",
                                  "curve.csv",       "curve.json",       "structure.json"};
  for (const char* name : kOthers)
    if (base::exists({run, name})) crate.copy({run, name}, name);
}

}  // namespace

int export_provenance(Runtime& runtime, const ExportOptions& options) {
  const StoredRun run(runtime, options.run);
  run.warn();
  const run::RunRecord record = run::read_run_record(options.run);
  require_end(options.run, record);
  const results::RunView view = run::read_view(runtime.registry(), options.run);
  CrateDirectory crate(options.provenance);
  results::write_tables(view, crate.path());
  crate.write(kExperimentFile, experiment_of(run.config()));
  copy_models(options.run, crate);
  copy_others(options.run, crate);
  const bool is_signed = !options.key.empty();
  crate.write(kMetadataFile, crate_metadata(view, record, crate.files(), is_signed));
  std::string sums;
  for (const CrateFile& file : crate.files()) sums += file.sha256 + "  " + file.name + "\n";
  crate.write(kSumsFile, sums);
  if (is_signed) sign(crate.path() + "/" + kSumsFile, options.key);
  crate.finish();
  say(stdout, "{}\n", options.provenance);
  return kDone;
}

}  // namespace mokume::app
