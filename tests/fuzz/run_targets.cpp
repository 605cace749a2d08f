// Defines targets for the other files of a run directory, of a model's directory and of the cache.
#include <cmath>
#include <filesystem>

#include "base/log.hpp"
#include "base/sealed.hpp"
#include "device/probe.hpp"
#include "fuzz.hpp"
#include "node/model_inputs.hpp"
#include "node/profile_files.hpp"
#include "run/fit_times.hpp"
#include "run/learning_curve.hpp"
#include "run/nested.hpp"
#include "run/run_directory.hpp"
#include "run/status_file.hpp"
#include "run/structure.hpp"
#include "run/vote.hpp"
#include "team/account.hpp"
#include "verify/trace_file.hpp"

namespace mokume::fuzz {
namespace {

// Writes the content as `name` and reads it again. The content must stay the same.
template <class Read>
void check_round_trip(const std::string& name, const Read& read) {
  std::string first;
  if (!accepts([&] { first = base::to_json(read()); })) return;
  file(name, base::seal(first));
  std::string second;
  require(accepts([&] { second = base::to_json(read()); }), "what was written is refused: " + first);
  require(first == second, "it reads back differently: " + first + " and " + second);
}

FUZZ_TARGET(run_json, resealed) {
  file("run.json", bytes);
  check_round_trip("run.json", [] { return run::read_run_record(scratch()); });
}

// Returns what `read` finds, as text, or "" if the file is missing or damaged.
template <class Read>
std::string shown(const Read& read) {
  std::string text;
  accepts([&] {
    if (const auto found = read()) text = base::to_json(*found);
  });
  return text;
}

FUZZ_TARGET(status, resealed) {
  file("logs/status.json", bytes);
  const auto read = [] { return run::read_live_status(scratch()); };
  const std::string first = shown(read);
  if (first.empty()) return;
  file("logs/status.json", base::seal(first));
  require(shown(read) == first, "a status reads back differently");
}

FUZZ_TARGET(bundles, resealed) {
  file("logs/pieces.json", bytes);
  accepts([] {
    const auto read = run::read_bundles(scratch());
    const std::vector<double> costs = run::cost_by_fit(read, 20);
    require(costs.empty() == read.empty() && costs.size() <= 20, "costs of other fits");
    run::write_bundles(scratch(), read);
    require(base::to_json(run::read_bundles(scratch())) == base::to_json(read), "bundles read back differently");
  });
}

FUZZ_TARGET(vote, resealed) {
  file("models/vote.json", bytes);
  accepts([] {
    if (const auto read = run::read_vote(scratch()))
      for (const results::Exemplar& one : read->exemplars) base::to_json(one);
  });
}

FUZZ_TARGET(nested, resealed) {
  file("nested.json", bytes);
  const auto read = [] { return run::read_nested(scratch(), 3); };
  const std::string first = shown(read);
  if (first.empty()) return;
  file("nested.json", base::seal(first));
  require(shown(read) == first, "the outer folds read back differently");
}

FUZZ_TARGET(curve, resealed) {
  file("curve.json", bytes);
  const auto read = [] { return run::read_curve(scratch()); };
  const std::string first = shown(read);
  if (first.empty()) return;
  run::keep_curve(scratch(), *read());
  require(shown(read) == first, "the learning curve reads back differently");
}

FUZZ_TARGET(structure, resealed) {
  file("structure.json", bytes);
  const auto read = [] { return run::read_structure(scratch()); };
  const std::string first = shown(read);
  if (first.empty()) return;
  run::keep_structure(scratch(), *read());
  require(shown(read) == first, "the structure reads back differently");
}

base::Log& quiet_log() {
  static base::Log log;
  static const bool once = (log.set_level(MK_LOG_ERROR), true);
  static_cast<void>(once);
  return log;
}

FUZZ_TARGET(fit_rates) {
  const std::string path = file("fit-rates.json", bytes);
  accepts([&] {
    const run::Rates rates = run::remembered_rates(path, "key", quiet_log());
    scheduler::Workload workload;
    workload.bundles.push_back({{0}, 2.0, 100, 0});
    run::remember_rates(path, "key", workload, {{"class", {0}, 1.5}}, quiet_log());
    const run::Rates after = run::remembered_rates(path, "key", quiet_log());
    require(after.contains("class"), "a damaged file of rates is not made anew");
    for (const auto& [device_class, rate] : rates)
      require(device_class == "class" || after.contains(device_class), "a rate is lost");
  });
}

FUZZ_TARGET(profile, resealed) {
  file("logs/profile-0000.json", bytes);
  accepts([] { node::read_profiles(scratch()); });
}

FUZZ_TARGET(inputs, resealed) {
  file("model/inputs.json", bytes);
  check_round_trip("model/inputs.json", [] { return node::read_inputs(scratch() + "/model").value(); });
}

FUZZ_TARGET(team_account, resealed) {
  file("logs/team.json", bytes);
  check_round_trip("logs/team.json", [] { return team::read_team_account(scratch()); });
}

FUZZ_TARGET(trace) {
  file("fit.trace", bytes);
  const std::string path = scratch() + "/fit.trace";
  app::FitTrace first;
  if (!accepts([&] { first = app::read_trace(path); })) return;
  app::write_trace(path, first);
  const app::FitTrace second = app::read_trace(path);
  require(first.lines == second.lines, "a trace reads back differently");
  require(!app::compare_traces(first, second, "a", "b").differ, "a trace differs from itself");
}

FUZZ_TARGET(speed) {
  device::Listed device;
  device.backend = "host";
  const std::string cache = scratch() + "/cache";
  static const std::string name = [&] {
    file("cache/none", "");
    device::remember_speed(cache, device, 1, {1, 1});
    for (const auto& entry : std::filesystem::directory_iterator(cache))
      if (entry.path().extension() == ".json") return "cache/" + entry.path().filename().string();
    return std::string();
  }();
  file(name, bytes);
  std::string warning;
  const auto remembered = [&] { return device::remembered_speed(cache, device, 1, warning); };
  if (const auto read = remembered()) {
    require(read->overall() >= 0, "a speed that is not a number");
    device::remember_speed(cache, device, 1, *read);
    require(remembered() == read, "a speed reads back differently");
  }
}

}  // namespace
}  // namespace mokume::fuzz
