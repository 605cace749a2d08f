#include "config/parse.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include "config/diagnostics.hpp"
#include "config/model_values.hpp"
#include "config/reading.hpp"
#include "config/set_argument.hpp"
#include "data/spec.hpp"

namespace mokume::config {
namespace {

// Looks up the model. Returns the reason if there is none, and otherwise "".
std::string find_model(Reading& reading, const SchemaLookup& lookup) {
  std::string why;
  if (!reading.is_good("model")) return why;
  try {
    reading.schema = lookup(reading.config.model, reading.config.plugin_directories, why);
  } catch (const std::exception& error) {
    why = error.what();
  }
  return why;
}

void report_model(Reading& reading, const std::string& why) {
  if (reading.schema || !reading.is_good("model")) return;
  // The model may be in a plugin directory whose entry is invalid; that error is already reported.
  const bool half_known = reading.find("plugins", "directories") != nullptr && !reading.is_good("plugins.directories");
  if (half_known || reading.is_meant("plugins", "directories")) return;
  reading.diagnostics.add(
      reading.find("", "model")->value.location,
      why.empty() ? fmt::format("there is no model '{}'", reading.config.model) : printable(why, 1000));
}

void keep_behaviour(Reading& reading) {
  for (const Parameter& key : keys())
    if (!key.before.empty() && reading.find(key.table, key.name) == nullptr)
      key.member.set(reading.config, value_before(key));
}

// ---- rules that involve several keys, each of which is valid on its own

void check_candidates(Reading& reading, const Entry& method) {
  const Config& config = reading.config;
  const Entry* candidates = reading.find("search", "candidates");
  const bool random = config.method == "random", list = config.method == "list" && config.bootstraps > 0;
  if (random && candidates == nullptr && !reading.is_meant("search", "candidates"))
    reading.diagnostics.add(method.value.location, "method \"random\" needs the number of candidates to draw",
                            reading.find("search", "trials") != nullptr
                                ? "add candidates = 5000, from which trials are chosen"
                                : "add candidates = 100");
  if (!random && !list && candidates != nullptr)
    reading.diagnostics.add(candidates->location,
                            fmt::format("candidates has no meaning with method \"{}\"", config.method),
                            config.method == "list" ? "use it with [bagging]" : "use it with method \"random\"");
}

// Checks the keys of successive halving.
void check_rungs(Reading& reading, Origin origin) {
  const Config& config = reading.config;
  const Entry *rungs = reading.find("search", "rungs"), *factor = reading.find("search", "factor");
  if (const Entry* whole = reading.find("search", "whole"); whole != nullptr && origin == Origin::experiment)
    reading.diagnostics.add(whole->location, "whole is for runs of `mokume curve`", "remove it");
  if (rungs == nullptr && factor != nullptr)
    reading.diagnostics.add(factor->location, "factor has no meaning without rungs", "add rungs = 3");
  if (rungs == nullptr || !reading.is_good("search.rungs") || config.rungs == 1) return;
  const auto refuse = [&](bool given, const std::string& what, const std::string& cure) {
    if (given) reading.diagnostics.add(rungs->location, what, cure);
  };
  // A learning curve is a run with rungs and one candidate.
  refuse(config.method == "none" && origin == Origin::experiment && !reading.is_meant("search", "method"),
         "without a search there is nothing to halve", "remove search.rungs");
  refuse(config.bootstraps > 0, "bagging trains the best candidate of every bootstrap on all of its rows",
         "remove search.rungs or [bagging]");
  refuse(config.repeats > 1, "rungs cannot be combined with repeats", "remove validation.repeats or search.rungs");
  if (reading.is_good("validation.folds") && config.folds == 0)
    refuse(true, "rungs compare candidates by cross-validation", "set validation.folds to 2 or more");
}

// Checks the keys of trials.
void check_trials(Reading& reading) {
  const Config& config = reading.config;
  const Entry *trials = reading.find("search", "trials"), *at_once = reading.find("search", "at_once");
  if (trials == nullptr && at_once != nullptr)
    reading.diagnostics.add(at_once->location, "at_once has no meaning without trials", "add trials = 50");
  if (trials == nullptr || !reading.is_good("search.trials")) return;
  const auto refuse = [&](bool given, const std::string& what, const std::string& cure) {
    if (given) reading.diagnostics.add(trials->location, what, cure);
  };
  refuse(config.method == "none" && !reading.is_meant("search", "method"),
         "without a search there is nothing to choose", "remove search.trials");
  refuse(config.rungs > 1, "rungs and trials cannot be combined", "remove search.rungs or search.trials");
  if (reading.is_good("validation.folds") && config.folds == 0)
    refuse(true, "trials are chosen by the results of validation", "set validation.folds to 2 or more, or a share");
}

void check_compat(Reading& reading, const Entry* method) {
  const Config& config = reading.config;
  const Entry* compat = reading.find("random", "compat");
  if (compat == nullptr || config.random_compat.empty()) return;
  std::string cure;
  if (config.bootstraps == 0) {
    cure = "add bootstraps = 12 to [bagging]";
  } else if (config.method != "random") {
    cure = method == nullptr ? "add method = \"random\" to [search]"
                             : fmt::format("the method is \"{}\"", method->value.text);
  } else if (config.folds < 2 || config.share > 0) {
    cure = "set validation.folds to 2 or more";
  }
  if (config.scales_folds()) {
    // The study that compat = "numpy" replays scaled inputs by all training rows.
    if (const Entry* within = reading.find("data", "within"))
      reading.diagnostics.add(within->location, "compat = \"numpy\" replays inputs that all folds share",
                              "set data.within to \"training\"");
    reading.config.data.within = data::Within::training;
  }
  if (!cure.empty())
    reading.diagnostics.add(compat->location, "compat = \"numpy\" replays bagging with random search and folds", cure);
  for (const auto& [name, value] :
       {std::pair("shuffle", &Config::shuffle), std::pair("stratified", &Config::stratified)}) {
    if (reading.find("validation", name) == nullptr)
      reading.config.*value = false;
    else if (config.*value)
      reading.diagnostics.add(compat->location, "compat = \"numpy\" replays folds as they were drawn",
                              fmt::format("remove validation.{}", name));
  }
}

// Reports keys that have no effect, because a file or the order of time decides which rows a fold has.
void refuse_choices(Reading& reading, bool file) {
  Config& config = reading.config;
  const auto refuse = [&](const char* table, const char* name, bool given) {
    if (const Entry* entry = given ? reading.find(table, name) : nullptr)
      reading.diagnostics.add(entry->location,
                              fmt::format("{} leave no choice to {}.{}",
                                          file ? "folds from a file" : "rows in the order of time", table, name),
                              file ? "remove it, or validation.file" : "remove it, or validation.ordered");
  };
  refuse("validation", "shuffle", config.shuffle);
  refuse("validation", "stratified", config.stratified);
  refuse("validation", "group", true);
  refuse("validation", "repeats", config.repeats > 1);
  refuse("validation", "ordered", file && config.ordered);
  refuse("random", "compat", file);
  refuse("bagging", "bootstraps", !file && config.bootstraps > 0);
  config.shuffle = config.stratified = false;
}

void check_repeats(Reading& reading) {
  const Config& config = reading.config;
  const Entry* repeats = reading.find("validation", "repeats");
  if (repeats == nullptr || config.repeats < 2 || !config.data.folds_file.empty()) return;
  if (config.bootstraps > 0)
    reading.diagnostics.add(repeats->location,
                            "bagging draws the folds of each bootstrap anew, so there are no repeats",
                            "remove validation.repeats, or use more bootstraps");
  if (!config.shuffle)
    reading.diagnostics.add(repeats->location, "without shuffling, every repeat has the same folds",
                            "remove validation.repeats, or set shuffle = true");
  if (config.folds == 0)
    reading.diagnostics.add(repeats->location, "without folds there is nothing to repeat",
                            "set validation.folds to 2 or more");
}

void check_outer(Reading& reading) {
  const Config& config = reading.config;
  if (const Entry* fold = reading.find("validation", "outer_fold"); fold != nullptr && config.outer_fold > config.outer)
    reading.diagnostics.add(fold->location,
                            fmt::format("there is no outer fold {} of {}", config.outer_fold, config.outer),
                            "set validation.outer to the number of outer folds");
  const Entry* outer = reading.find("validation", "outer");
  if (outer == nullptr) return;
  if (config.ordered)
    reading.diagnostics.add(outer->location, "outer folds would mix earlier and later rows",
                            "remove validation.outer or validation.ordered");
  if (config.folds == 0 && config.share == 0)
    reading.diagnostics.add(outer->location, "without validation nothing is tuned, so nothing is nested",
                            "set validation.folds to 2 or more");
}

// Checks the keys of a share, which makes one fold.
void check_share(Reading& reading) {
  if (reading.find("validation", "share") == nullptr) return;
  for (const Parameter& key : keys())
    if (const Entry* entry = key.has(kFoldsOnly) ? reading.find(key.table, key.name) : nullptr)
      reading.diagnostics.add(entry->location, fmt::format("{} has no meaning with validation.share", key.name),
                              "keep one of the two", "a share of the rows is drawn at random, once");
  if (!reading.is_good("validation.share")) return;
  reading.config.folds = 1;
  reading.config.shuffle = false;  // preserves the plan's hash
}

void check_data(Reading& reading) {
  if (!reading.is_good("data.source")) return;
  const std::string& source = reading.config.data.source;
  const auto takes = [&](const Parameter& key) {
    return key.sources.empty() || std::find(key.sources.begin(), key.sources.end(), source) != key.sources.end();
  };
  for (const Parameter& key : keys())
    if (const Entry* entry = takes(key) ? nullptr : reading.find(key.table, key.name))
      reading.diagnostics.add(entry->location, fmt::format("{} has no meaning for source \"{}\"", key.path(), source),
                              "", fmt::format("{} is for source: {}", key.path(), join(key.sources)));
  if (reading.is_good("data.channels") && reading.config.data.channels == 2)
    reading.diagnostics.add(reading.find("data", "channels")->value.location, "pictures have 1 or 3 channels",
                            "use 1 (grey) or 3 (colour)");
  if (data::is_built_in(source) || source == "mnist") return;
  if (!reading.is_meant("data", "path") && reading.find("data", "path") == nullptr)
    reading.diagnostics.add(reading.find("data", "source")->value.location,
                            fmt::format("source \"{}\" needs data.path", source), "add path = \"...\"");
  if (source == "npy" && !reading.is_meant("data", "labels") && reading.find("data", "labels") == nullptr)
    reading.diagnostics.add(reading.find("data", "source")->value.location, "source \"npy\" needs data.labels",
                            "add labels = \"...\"");
}

void check_validation(Reading& reading) {
  const Config& config = reading.config;
  if (reading.find("validation", "ordered") != nullptr && config.ordered) refuse_choices(reading, false);
  if (const Entry* file = reading.find("validation", "file")) {
    refuse_choices(reading, true);
    if (reading.is_good("validation.folds") && config.folds == 0)
      reading.diagnostics.add(file->location, "without folds there is nothing to read from validation.file",
                              "set validation.folds to the number of folds in the file");
  }
  check_share(reading);
  check_repeats(reading);
  check_outer(reading);
  // Without folds or fitted inputs, data.within has no effect. Plans then keep the hash that is older than this key.
  if (config.folds == 0 || !config.data.learns()) reading.config.data.within = data::Within::training;
}

void check_search(Reading& reading, Origin origin) {
  const Config& config = reading.config;
  Diagnostics& diagnostics = reading.diagnostics;
  const Entry* params = reading.find_table(kSearched);
  const Entry* method = reading.find("search", "method");
  check_compat(reading, method);
  check_rungs(reading, origin);
  check_trials(reading);
  if (method == nullptr) {
    if (params != nullptr && !reading.is_meant("search", "method"))
      diagnostics.add(params->location, "[search.params] needs a search method",
                      "add method = \"grid\" or \"random\" to [search]");
    return;
  }
  if (!reading.is_good("search.method")) return;
  const bool none = config.method == "none";
  if (none && params != nullptr)
    diagnostics.add(params->location, "[search.params] has no meaning with method \"none\"",
                    "fixed values belong to [model_options]");
  const bool absent = reading.find("search", "params") == nullptr && !reading.is_meant("search", "params");
  if (!none && (absent || (params != nullptr && params->value.entries.empty())))
    diagnostics.add(method->value.location, fmt::format("method \"{}\" needs parameters to search", config.method),
                    "add them to [search.params]");
  check_candidates(reading, *method);
  const bool one_each = config.method == "list" && config.bootstraps > 0 && config.n_candidates == 1;
  if (!none && !one_each && reading.is_good("validation.folds") && config.folds == 0)
    diagnostics.add(reading.find("validation", "folds")->value.location,
                    "a search compares candidates by cross-validation, so folds must not be 0", "2 or more");
}

}  // namespace

ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup, Origin origin) {
  Diagnostics diagnostics(file);
  std::optional<Node> root = read_tree(text, 0, diagnostics);
  if (!root) return {std::nullopt, diagnostics.take()};
  for (size_t i = 0; i < sets.size(); ++i) apply_set(*root, sets[i], static_cast<uint32_t>(i + 1), diagnostics);
  if (!diagnostics.empty()) return {std::nullopt, diagnostics.take()};

  Reading reading(*root, diagnostics);
  reading.read_keys();
  if (origin == Origin::run) keep_behaviour(reading);
  const std::string why = find_model(reading, lookup);
  reading.report_unknown_keys();
  report_model(reading, why);
  reading.report_missing_keys();
  check_data(reading);
  check_validation(reading);
  read_model_values(reading, origin);
  check_search(reading, origin);
  if (!diagnostics.empty()) return {std::nullopt, diagnostics.take()};
  return {std::move(reading.config), {}};
}

}  // namespace mokume::config
