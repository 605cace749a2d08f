#include "run/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/plan.hpp"
#include "config/resolved.hpp"
#include "journal/read.hpp"
#include "node/experiment.hpp"
#include "node/profile_files.hpp"
#include "results/efficiency.hpp"
#include "results/energy.hpp"
#include "results/stats.hpp"
#include "results/tables.hpp"
#include "results/team.hpp"
#include "run/learning_curve.hpp"
#include "run/nested.hpp"
#include "run/out_of_fold.hpp"
#include "run/run_directory.hpp"
#include "run/status_file.hpp"
#include "run/structure.hpp"
#include "run/vote.hpp"
#include "sdk/error.hpp"
#include "team/account.hpp"

namespace mokume::run {
namespace {

config::Config read_config(registry::Registry& registry, const std::string& directory) {
  const base::Below place{directory, "config.resolved.toml"};
  const std::string file = place.path(), text = base::read_file(place, 1U << 24);
  config::ParseResult parsed = config::parse(text, file, {}, node::schema_lookup(registry), config::Origin::run);
  if (!parsed.config) throw Error(MK_BAD_DATA, config::render(parsed.diagnostics.front(), text));
  return *parsed.config;
}

std::string inputs_text(const config::Config& config) {
  if (!config.data.learns()) return "";
  const bool scales = config.data.standardize.kind == data::Standardize::Kind::features;
  const bool fills = config.data.missing == data::Missing::mean;
  const std::string what = scales && fills ? "scaling and filling are" : scales ? "scaling is" : "filling is";
  if (config.scales_folds()) return what + " fitted within each fold";
  return what + " fitted on all training rows" + (config.folds > 0 ? ", also on those that a fold validates" : "");
}

std::string environment_text(const Environment& e) {
  return fmt::format("version: {}\ncompiler: {}\ncommand: {}\nhost: {}\nnodes: {}\nreproducibility: {}\n", e.version,
                     e.compiler, e.command, e.host, e.nodes, e.reproducibility);
}

void add_devices(results::RunView& view, const RunRecord& record) {
  const std::vector<journal::FitRecord> work = results::all_work(view);
  const auto busy = journal::busy_seconds(work);
  const auto energy = results::energy_by_fit(work);
  uint32_t last_node = 0;
  for (const DeviceRecord& device : record.devices) {
    results::DeviceUse use{device.node, device.id, device.backend, device.name, device.vendor};
    use.fits = static_cast<uint64_t>(std::count_if(view.records.begin(), view.records.end(), [&](const auto& r) {
      return r.node == use.node && r.device == use.id;
    }));
    use.busy_s = journal::busy_of(busy, use.node, use.id);
    for (size_t r = 0; r < work.size(); ++r)
      if (energy[r] && work[r].node == use.node && work[r].device == use.id)
        use.energy_j = use.energy_j.value_or(0) + *energy[r];
    last_node = std::max(last_node, use.node);
    view.devices.push_back(use);
  }
  view.nodes = last_node + 1;
}

void add_efficiency(results::RunView& view, const RunRecord& record, journal::Contents contents,
                    const std::string& directory) {
  contents.records = results::all_work(view);
  std::vector<results::Member> members;
  for (const DeviceRecord& d : record.devices) members.push_back({d.node, d.id, d.device_class, d.speed, d.sessions});
  const results::Efficiency found =
      results::efficiency(members, contents, cost_by_fit(read_bundles(directory), view.plan.n_fits()));
  view.efficiency = found.value;
  view.speeds = found.source;
  for (size_t i = 0; i < view.devices.size(); ++i) view.devices[i].speed = found.speeds[i];
}

// Takes the use of each device from the account, because the scheduler sees one device for all members of the team.
void add_team(results::RunView& view, const std::string& directory) {
  view.team = team::read_team_account(directory);
  if (view.team.shares.empty()) return;
  for (results::DeviceUse& use : view.devices) {
    use.fits = 0;
    use.busy_s = 0;
    for (const results::TeamShare& share : view.team.shares)
      if (share.node == use.node && share.device == use.id) {
        ++use.fits;
        use.busy_s += share.busy_s;
      }
  }
  view.efficiency = results::efficiency_of(view.team);
}

void add_data(results::RunView& view, const RunRecord& record) {
  view.data_name = record.data.name;
  view.data_sha256 = record.data.sha256;
  view.data_rows = record.data.rows;
  view.data_features = record.data.features;
  view.data_classes = record.data.classes;
  view.data_test_rows = record.data.test_rows;
  view.class_names = record.data.class_names;
  view.class_rows = record.data.class_rows;
  view.guess = record.data.guess;
}

// Adds the records, and what follows from them: the best candidate, its refit and the result on the test set.
void add_records(results::RunView& view, const journal::Contents& contents, const std::string& directory) {
  view.records = contents.records;
  view.repeats = contents.repeats;
  view.disagreements = contents.disagreements;
  view.events = contents.events;
  view.notices = contents.notices;
  view.refits = contents.refits;
  view.wall_s = contents.wall_s;
  const auto rows = results::summarise(view.plan, view.metrics, view.records);
  for (const results::CandidateRow& row : rows)
    if (row.complete && row.rank == 1 && view.records.size() >= view.plan.n_recorded()) view.best = row.candidate;
  if (view.plan.folds == 0) view.best = 0;  // the only candidate
  if (view.plan.bootstraps > 1) {
    view.best.reset();  // each bootstrap has its own
    view.vote = read_vote(directory);
    if (view.vote) view.test = view.vote->test;
  }
  for (const journal::FitRecord& refit : contents.refits)
    if (refit.status != journal::FitStatus::failed && view.best && refit.refit == view.best) view.refit = refit;
  if (view.refit) view.test = results::test_of(*view.refit, view.data_classes);
  if (view.best && view.plan.bootstraps == 1)
    view.validated = read_out_of_fold_result(directory, *view.best, view.data_classes);
}

results::RunView view_of(registry::Registry& registry, const std::string& directory, const RunRecord& record) {
  check_config_file(directory, record);
  config::Config config = read_config(registry, directory);
  config.file_sums = record.files;
  results::RunView view;
  view.name = config.name;
  view.model = config.model;
  view.seed = config.seed_text;
  add_data(view, record);
  view.inputs = inputs_text(config);
  view.reused_from = record.reused_from;
  view.grid = config.method == "grid";
  view.plan = config::make_plan(config, view.data_sha256, view.data_rows);
  view.plan_hash = view.plan.hash;
  if (view.plan.hash != record.plan_hash)
    throw Error(MK_BAD_DATA,
                directory + "/config.resolved.toml does not belong to this run's plan: restore it, or start a new run");
  view.metrics = node::metrics_of(*registry.load(MK_PLUGIN_MODEL, config.model).model(), view.data_classes > 0, config);
  if (record.state == "done" && !base::exists({directory, "journal"}))
    throw Error(MK_BAD_DATA, directory +
                                 "/journal is missing, from which everything here is read: restore it, or `mokume " +
                                 "resume " + directory + "` computes its fits again");
  const journal::Contents contents =
      journal::read_all(directory + "/journal", view.plan,
                        node::bounds_of(view.metrics, view.data_rows, view.data_test_rows, view.data_classes, config));
  add_records(view, contents, directory);
  view.nested = read_nested(directory, view.data_classes);
  view.structure = read_structure(directory);
  if (view.structure && view.structure->candidate != view.shown_candidate()) view.structure.reset();
  view.curve = read_curve(directory);
  if (view.curve && view.curve->candidate != view.best) view.curve.reset();  // another candidate was the best before
  add_devices(view, record);
  view.profiles = node::read_profiles(directory);
  add_efficiency(view, record, contents, directory);
  add_team(view, directory);
  view.state = record.state;
  view.config_toml = config::to_toml(config);
  view.environment = environment_text(record.environment);
  view.reproduce = "mokume run experiment.toml --fresh";
  if (!record.environment.command.empty()) view.reproduce = record.environment.command;
  return view;
}

}  // namespace

results::RunView read_view(registry::Registry& registry, const std::string& directory) {
  return view_of(registry, directory, read_run_record(directory));
}

results::RunView write_tables(registry::Registry& registry, const std::string& directory, const RunRecord& record) {
  results::RunView view = view_of(registry, directory, record);
  results::write_tables(view, directory);
  return view;
}

results::RunView write_tables(registry::Registry& registry, const std::string& directory) {
  return write_tables(registry, directory, read_run_record(directory));
}

}  // namespace mokume::run
