#include "provenance/metadata.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/plural.hpp"
#include "provenance/signature.hpp"
#include "results/energy.hpp"
#include "results/stats.hpp"

namespace mokume::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProfile = "https://w3id.org/ro/wfrun/process/0.5";
constexpr const char* kTool = "#mokume";
constexpr const char* kRun = "#run";

Json reference(const std::string& id) { return {{"@id", id}}; }

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct Described {
  std::string_view name, what;
};

std::string description_of(const std::string& file) {
  static constexpr std::array<Described, 14> kFiles = {{
      {kExperimentFile, "the experiment with the value of every key; absolute paths are reduced to the last part"},
      {"results.csv", "the metrics of every fit"},
      {"candidates.csv", "the mean, spread and rank of every candidate"},
      {"ensemble.csv", "the members of the ensemble"},
      {"epochs.csv", "the curves over the epochs of every fit"},
      {"timeline.csv", "when and on which device every fit ran"},
      {"summary.json", "the best candidate, its test, the devices and their work"},
      {"out_of_fold.csv", "the prediction for every row by the fold that validates it"},
      {"out_of_fold.json", "the pooled errors of these predictions"},
      {"nested.json", "the outer folds of the nested cross-validation"},
      {"curve.csv", "the scores by the number of training rows"},
      {"structure.json", "the layers of the best candidate's network"},
      {"models/vote.json", "the vote of the ensemble on the test rows"},
      {"test.npy", "the member's predictions of the test rows"},
  }};
  for (const Described& one : kFiles)
    if (file == one.name || file.ends_with("/" + std::string(one.name))) return std::string(one.what);
  return file.starts_with("models/") ? "a file of the trained model" : "a file of the run";
}

std::string format_of(const std::string& file) {
  static constexpr std::array<Described, 5> kFormats = {{{".csv", "text/csv"},
                                                         {".json", "application/json"},
                                                         {".toml", "application/toml"},
                                                         {".libsvm", "text/plain"},
                                                         {kSumsFile, "text/plain"}}};
  for (const Described& one : kFormats)
    if (file.ends_with(one.name)) return std::string(one.what);
  return "application/octet-stream";
}

std::optional<std::string> iso_time(double seconds) {
  constexpr double kYear10000 = 253402300800.0;
  if (!(seconds >= 0 && seconds < kYear10000)) return std::nullopt;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S+00:00}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// Holds the first start of a device and the end of the last fit.
results::Extent times_of(const results::RunView& view, const run::RunRecord& record) {
  results::Extent times;
  for (const journal::FitRecord& one : results::all_work(view))
    if (results::timed(one)) times.add(one.start_s), times.add(one.end_s);
  if (times.empty()) return times;
  for (const run::DeviceRecord& device : record.devices)
    for (const double start : device.sessions)
      if (start < times.low) times.add(start);
  return times;
}

// Builds the graph entity by entity.
class Crate {
 public:
  Crate(const results::RunView& view, const run::RunRecord& record) : view_(view), record_(record) {}

  std::string text(const std::vector<CrateFile>& files, bool is_signed) {
    add_files(files, is_signed);
    add_data();
    add_plan();
    add_devices();
    add_choices();
    add_energy();
    add_tool();
    add_action();
    Json graph = Json::array({descriptor(), root(), profile()});
    for (Json& entity : entities_) graph.push_back(std::move(entity));
    const Json crate = {
        {"@context", {"https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"}},
        {"@graph", std::move(graph)}};
    return crate.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  }

 private:
  static Json descriptor() {
    return {{"@id", kMetadataFile},
            {"@type", "CreativeWork"},
            {"conformsTo", reference("https://w3id.org/ro/crate/1.1")},
            {"about", reference("./")}};
  }
  static Json profile() {
    return {{"@id", kProfile}, {"@type", "CreativeWork"}, {"name", "Process Run Crate"}, {"version", "0.5"}};
  }
  Json root() const {
    return {{"@id", "./"},
            {"@type", "Dataset"},
            {"conformsTo", reference(kProfile)},
            {"name", fmt::format("Run of {} with mokume", view_.name)},
            {"description", fmt::format("Results, models and provenance of the experiment {}, which fits {} to {}.",
                                        view_.name, view_.model, view_.data_name)},
            {"datePublished", end_.value_or("1970-01-01")},
            {"license", "No license is stated: ask whoever published this crate."},
            {"hasPart", parts_},
            {"mentions", reference(kRun)}};
  }

  void add_files(const std::vector<CrateFile>& files, bool is_signed) {
    for (const CrateFile& file : files) {
      parts_.push_back(reference(file.name));
      (file.name == kExperimentFile ? objects_ : results_).push_back(reference(file.name));
      entities_.push_back({{"@id", file.name},
                           {"@type", "File"},
                           {"name", file.name},
                           {"description", description_of(file.name)},
                           {"encodingFormat", format_of(file.name)},
                           {"contentSize", std::to_string(file.bytes)},
                           {"sha256", file.sha256}});
    }
    add_sums(kSumsFile, "the SHA-256 of every other file, for sha256sum -c");
    if (is_signed)
      add_sums(std::string(kSumsFile) + ".sig",
               fmt::format("an SSH signature of SHA256SUMS in the namespace {}", kSignatureNamespace));
  }
  void add_sums(const std::string& name, const std::string& what) {
    parts_.push_back(reference(name));
    entities_.push_back(
        {{"@id", name}, {"@type", "File"}, {"name", name}, {"description", what}, {"encodingFormat", "text/plain"}});
  }

  void add_object(Json entity) {
    objects_.push_back(reference(entity.at("@id")));
    entities_.push_back(std::move(entity));
  }
  void add_value(const std::string& id, const std::string& name, const Json& value, const std::string& what) {
    add_object({{"@id", id}, {"@type", "PropertyValue"}, {"name", name}, {"value", value}, {"description", what}});
  }

  // The data is not part of the crate, so it is no data entity of it.
  void add_data() {
    const run::DataRecord& data = record_.data;
    add_object({{"@id", "#data"},
                {"@type", "CreativeWork"},
                {"name", data.name},
                {"description", fmt::format("{} of {} and {}; sha256 is that of the rows as mokume reads them, before "
                                            "it scales them",
                                            base::counted(static_cast<uint64_t>(data.rows), "training row"),
                                            base::counted(static_cast<uint64_t>(data.features), "feature"),
                                            base::counted(static_cast<uint64_t>(data.test_rows), "test row"))},
                {"sha256", data.sha256}});
    size_t number = 0;
    for (const auto& [path, sum] : record_.files)
      add_object({{"@id", fmt::format("#file-{}", number++)},
                  {"@type", "CreativeWork"},
                  {"name", last_part(path)},
                  {"description", "a file that model_options names; it is not part of the crate"},
                  {"sha256", sum}});
  }

  void add_plan() {
    add_value("#plan", "plan hash", view_.plan_hash,
              "SHA-256 of everything that the fits depend on: the experiment with its paths, the seed and the data");
  }

  void add_devices() {
    for (size_t d = 0; d < record_.devices.size(); ++d) {
      const run::DeviceRecord& device = record_.devices[d];
      add_value(fmt::format("#device-{}", d), "device", device.name,
                fmt::format("{} of node {}, vendor {}, device class {}", device.id, device.node, device.vendor,
                            device.device_class));
    }
  }

  void add_choices() {
    size_t number = 0;
    for (const auto& [device_class, choices] : record_.choices) {
      std::vector<std::string> words;
      for (const auto& [key, value] : choices) words.push_back(key + " = " + value);
      add_value(fmt::format("#choices-{}", number++), "choices", fmt::format("{}", fmt::join(words, ", ")),
                fmt::format("numerics, precision and kernels of the device class {}, on which last bits depend",
                            device_class));
    }
  }

  void add_energy() {
    const results::Energy energy = results::energy_of(view_);
    if (energy.counted == 0) return;
    usage_ = reference("#energy");
    entities_.push_back(
        {{"@id", "#energy"},
         {"@type", "PropertyValue"},
         {"name", "energy"},
         {"description", fmt::format("counted for {} of {} fits and refits", energy.counted, energy.all)},
         {"propertyID", "http://qudt.org/vocab/quantitykind/Energy"},
         {"unitCode", "http://qudt.org/vocab/unit/J"},
         {"value", energy.joules}});
  }

  void add_tool() {
    const run::Environment& of = record_.environment;
    Json tool = {{"@id", kTool},
                 {"@type", "SoftwareApplication"},
                 {"name", "mokume"},
                 {"description", fmt::format("tunes and trains models on many devices; this run used the model {}{}",
                                             view_.model, of.compiler.empty() ? "" : "; compiler: " + of.compiler)}};
    if (!of.version.empty()) tool["softwareVersion"] = of.version;
    entities_.push_back(std::move(tool));
  }

  void add_action() {
    const results::Extent times = times_of(view_, record_);
    const auto start = iso_time(times.low);
    end_ = iso_time(times.high);
    const size_t fits = results::recorded(view_).size();
    Json action = {{"@id", kRun},
                   {"@type", "CreateAction"},
                   {"name", "mokume run " + std::string(kExperimentFile)},
                   {"description",
                    fmt::format("{} of {} on {} of {}", base::counted(fits, "fit"),
                                base::counted(view_.plan.candidates.size(), "candidate"),
                                base::counted(record_.devices.size(), "device"), base::counted(view_.nodes, "node"))},
                   {"instrument", reference(kTool)},
                   {"object", objects_},
                   {"result", results_}};
    if (start) action["startTime"] = *start;
    if (end_) action["endTime"] = *end_;
    const bool done = view_.state == "done";
    action["actionStatus"] = done ? "http://schema.org/CompletedActionStatus" : "http://schema.org/FailedActionStatus";
    if (!done)
      action["error"] =
          fmt::format("{} and {} failed", base::counted(results::count_fits(view_, journal::FitStatus::failed), "fit"),
                      base::counted(results::failed_refits(view_), "refit"));
    if (!usage_.is_null()) action["resourceUsage"] = usage_;
    entities_.push_back(std::move(action));
  }

  const results::RunView& view_;
  const run::RunRecord& record_;
  std::vector<Json> entities_;
  Json parts_ = Json::array(), objects_ = Json::array(), results_ = Json::array(), usage_;
  std::optional<std::string> end_;
};

}  // namespace

std::string crate_metadata(const results::RunView& view, const run::RunRecord& record,
                           const std::vector<CrateFile>& files, bool is_signed) {
  return Crate(view, record).text(files, is_signed);
}

std::string without_places(const std::string& toml) {
  std::string text;
  for (size_t at = 0; at < toml.size();) {
    const size_t quote = toml.find('"', at);
    text.append(toml, at, quote == std::string::npos ? std::string::npos : quote - at);
    if (quote == std::string::npos) break;
    size_t end = quote + 1;
    while (end < toml.size() && toml[end] != '"') end += toml[end] == '\\' ? 2 : 1;
    const std::string value = toml.substr(quote + 1, std::min(end, toml.size()) - quote - 1);
    text += '"' + (value.starts_with('/') ? last_part(value) : value) + '"';
    at = end + 1;
  }
  return text;
}

}  // namespace mokume::app
