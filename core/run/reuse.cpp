#include "run/reuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/plan.hpp"
#include "config/resolved.hpp"
#include "journal/read.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMostFits = 1'000'000;  // limit on the keys in memory
constexpr size_t kMostRuns = 8;            // limit on the runs to read; older runs rarely offer more

// Describes an experiment without its data, which it shares with another experiment.
struct Planned {
  const config::Config& config;
  const search::Plan& plan;
  const node::Splits& splits;
  const mk_experiment& values;
  const mk_model& model;
};

std::string value_text(const mk_param& param, const mk_value& value) {
  if (param.type == MK_PARAM_REAL) return base::shortest(value.real);
  if (param.type == MK_PARAM_INTEGER || param.type == MK_PARAM_BOOL) return std::to_string(value.integer);
  return value.text;
}

// Makes a key for each fit. Fits with equal keys have equal bits.
class Keys {
 public:
  explicit Keys(const Planned& of) : of_(of) {
    for (const data::Sample& sample : of.splits.samples()) samples_.push_back(hash_of(sample));
    for (uint32_t c = 0; c < of.plan.n_candidates(); ++c) {
      std::string text;
      for (uint32_t p = 0; p < of.model.n_params; ++p)
        text += std::string(of.model.params[p].name) + '=' +
                text_of(of.model.params[p], of.values.values[c * of.model.n_params + p]) + '\n';
      candidates_.push_back(base::sha256(text));
    }
  }

  std::string of(uint32_t fit) const {
    const search::FitKey key = of_.plan.key(fit);
    const node::Splits::Place place = of_.splits.place_of({key.bootstrap, key.fold});
    const std::string text = fmt::format("{} {} {}", candidates_[key.candidate], samples_[place.sample], place.fold);
    return of_.model.seedless != 0 ? text : text + place_of(key.candidate, place);
  }

 private:
  // Returns what a fit's random numbers may depend on (see mk_model.seedless). To a model, each sample is a bootstrap:
  // that of a repeat, of a rung or of a fold in time too.
  std::string place_of(uint32_t candidate, const node::Splits::Place& place) const {
    std::string text = fmt::format(" seed {} folds {} bootstrap {} candidate {} fold {}", of_.config.seed,
                                   of_.splits.folds(), place.sample, candidate, place.fold);
    return place.sample == 0 ? text : text + fmt::format(" of {} candidates", of_.plan.n_candidates());
  }
  // Uses the content of a file, not its path.
  std::string text_of(const mk_param& param, const mk_value& value) const {
    if ((param.flags & MK_PARAM_FILE) == 0 || *value.text == '\0') return value_text(param, value);
    const auto sum = of_.config.file_sums.find(value.text);
    return sum == of_.config.file_sums.end() ? value.text : sum->second;
  }
  static std::string hash_of(const data::Sample& sample) {
    const auto bytes = [](const auto& list) {
      return std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list.front()));
    };
    return base::sha256(bytes(sample.row) + bytes(sample.fold_of));
  }

  const Planned of_;
  std::vector<std::string> samples_, candidates_;
};

// Returns everything, except the data itself, that determines the inputs of the folds.
nlohmann::json inputs_of(const config::Config& config) {
  return nlohmann::json::parse(config::canonical_json(config))["data"];
}

// Returns where the earlier run has each metric of the new run, or nothing if one is missing.
std::optional<std::vector<size_t>> places_of(const std::vector<results::Metric>& wanted,
                                             const std::vector<results::Metric>& there) {
  std::vector<size_t> places;
  for (const results::Metric& metric : wanted) {
    const auto found =
        std::find_if(there.begin(), there.end(), [&](const results::Metric& one) { return one.name == metric.name; });
    if (found == there.end()) return std::nullopt;
    places.push_back(static_cast<size_t>(found - there.begin()));
  }
  return places;
}

class Search {
 public:
  Search(registry::Registry& registry, const node::Experiment& experiment)
      : registry_(registry), experiment_(experiment) {
    const Keys keys(planned(experiment));
    // Which fits of later rungs are computed depends on the first rung alone; which trials, on those before.
    for (uint32_t fit = 0; experiment.plan().trials == 0 && fit < experiment.plan().n_fits(); ++fit)
      if (experiment.plan().rung_of(fit) == 0) wanted_[keys.of(fit)] = fit;
  }

  // Returns the reusable fits of an earlier run. Throws Error if it cannot be read.
  Reusable look(const std::string& directory, const RunRecord& record) const {
    Reusable offer{directory, record.choices, {}, {}};
    check_config_file(directory, record);
    const base::Below place{directory, "config.resolved.toml"};
    const std::string file = place.path();
    const config::ParseResult parsed =
        config::parse(base::read_file(place, 1U << 24), file, {}, node::schema_lookup(registry_), config::Origin::run);
    if (!parsed.config || !comparable(*parsed.config)) return offer;
    config::Config config = *parsed.config;
    config.file_sums = record.files;
    const std::vector<results::Metric> metrics = node::metrics_of(experiment_.model(), classifies(), config);
    const auto places = places_of(experiment_.metrics(), metrics);
    if (!places) return offer;
    const data::Dataset& data = experiment_.data();
    const search::Plan plan = config::make_plan(config, data.sha256, data.train.rows);
    if (plan.hash != record.plan_hash) return offer;
    const node::Splits splits(config, plan, data);
    const node::ModelExperiment values(config, plan, data, splits, experiment_.model());
    const Keys keys({config, plan, splits, *values.get(), experiment_.model()});
    const auto classes = static_cast<int64_t>(data.class_names.size());
    const journal::Bounds bounds = node::bounds_of(metrics, data.train.rows, record.data.test_rows, classes, config);
    for (const journal::FitRecord& fit : journal::read_all(directory + "/journal", plan, bounds).records)
      take(keys.of(fit.fit), fit, *places, offer);
    std::sort(offer.records.begin(), offer.records.end(), [](const auto& a, const auto& b) { return a.fit < b.fit; });
    return offer;
  }

 private:
  static Planned planned(const node::Experiment& e) {
    return {e.config(), e.plan(), e.splits(), *e.model_experiment(), e.model()};
  }
  bool classifies() const { return !experiment_.data().class_names.empty(); }
  bool comparable(const config::Config& config) const {
    return config.model == experiment_.config().model && !config.team &&
           config.precision == experiment_.config().precision && config.numerics == experiment_.config().numerics &&
           inputs_of(config) == inputs_of(experiment_.config());
  }

  void take(const std::string& key, journal::FitRecord fit, const std::vector<size_t>& places, Reusable& offer) const {
    const auto found = wanted_.find(key);
    if (found == wanted_.end() || !journal::has_result(fit.status) || fit.device_class.empty()) return;
    std::vector<double> values;
    for (const size_t place : places) {
      if (place >= fit.values.size()) return;
      values.push_back(fit.values[place]);
    }
    fit.values = std::move(values);
    offer.earlier[found->second] = fit.fit;
    fit.fit = found->second;
    offer.records.push_back(std::move(fit));
  }

  registry::Registry& registry_;
  const node::Experiment& experiment_;
  std::map<std::string, uint32_t> wanted_;  // fits of the new plan by their keys
};

// Returns the run directories of all experiments below `output`, the newest first.
std::vector<std::string> newest_runs(const std::string& output) {
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto& experiment : fs::directory_iterator(output, error))
    if (experiment.is_directory(error) && !experiment.is_symlink(error))
      for (std::string& run : runs_newest_first(experiment.path().string())) runs.push_back(std::move(run));
  std::sort(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) { return a.filename() > b.filename(); });
  return runs;
}

}  // namespace

std::optional<Reusable> find_reusable(registry::Registry& registry, const node::Experiment& experiment,
                                      const std::string& output, const std::string& version) {
  const uint32_t fits = experiment.plan().n_fits();
  if (experiment.config().team || fits == 0 || fits > kMostFits) return std::nullopt;
  std::optional<Search> search;
  Reusable best;
  size_t read = 0;
  for (const std::string& directory : newest_runs(output)) {
    if (read == kMostRuns) break;
    try {
      const RunRecord record = read_run_record(directory);
      if (record.data.sha256 != experiment.data().sha256 || record.environment.version != version || !record.checked ||
          is_held(directory))
        continue;
      ++read;
      if (!search) search.emplace(registry, experiment);
      Reusable offer = search->look(directory, record);
      if (offer.records.size() > best.records.size()) best = std::move(offer);
    } catch (const std::exception&) {
      continue;  // an unreadable run offers nothing
    }
  }
  return best.records.empty() ? std::nullopt : std::optional(std::move(best));
}

std::vector<journal::FitRecord> taken_over(std::vector<journal::FitRecord> records,
                                           const std::vector<std::string>& device_classes, double now_s) {
  std::erase_if(records, [&](const journal::FitRecord& fit) {
    return std::find(device_classes.begin(), device_classes.end(), fit.device_class) == device_classes.end();
  });
  for (journal::FitRecord& fit : records) {
    fit.node = 0;
    fit.device = journal::kReused;
    fit.bundle = 0;
    fit.attempt = 0;
    fit.start_s = fit.end_s = now_s;
    fit.energy_j.reset();
  }
  return records;
}

}  // namespace mokume::run
