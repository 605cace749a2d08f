#include "config/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/wording.hpp"
#include "data/spec.hpp"

namespace mokume::config {
namespace {

void check_candidates(Reading& reading, const Entry& method) {
  const Config& config = reading.config;
  const Entry* candidates = reading.find("search", "candidates");
  const bool random = config.method == "random", list = config.method == "list" && config.bootstraps > 0;
  if (random && candidates == nullptr && !reading.is_meant("search", "candidates"))
    reading.diagnostics.add(method.value.location, "method \"random\" needs the number of candidates to draw",
                            "add candidates = 100");
  if (!random && !list && candidates != nullptr)
    reading.diagnostics.add(candidates->location,
                            fmt::format("candidates has no meaning with method \"{}\"", config.method),
                            config.method == "list" ? "use it with [bagging]" : "use it with method \"random\"");
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
    // The replayed study scaled by all training rows.
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

// Without folds there is nothing to fit within them, and the plan keeps its hash from before data.within.
void settle_within(Config& config) {
  if (config.folds == 0 || !config.data.learns()) config.data.within = data::Within::training;
}

// Reports a key that is not allowed because `decider` assigns the rows.
void refuse_choice(Reading& reading, const char* table, const char* name, const char* what, const char* decider) {
  if (const Entry* entry = reading.find(table, name))
    reading.diagnostics.add(entry->location, fmt::format("{} no choice to {}.{}", what, table, name),
                            fmt::format("remove it, or {}", decider));
}

// The order of time assigns the rows.
void check_order(Reading& reading) {
  Config& config = reading.config;
  const Entry* ordered = reading.find("validation", "ordered");
  if (ordered == nullptr || !config.ordered) return;
  const auto refuse = [&](const char* table, const char* name, bool given) {
    if (given) refuse_choice(reading, table, name, "rows in the order of time leave", "validation.ordered");
  };
  refuse("validation", "shuffle", config.shuffle);
  refuse("validation", "stratified", config.stratified);
  refuse("validation", "group", true);
  refuse("validation", "repeats", config.repeats > 1);
  refuse("bagging", "bootstraps", config.bootstraps > 0);
  config.shuffle = config.stratified = false;
}

// The file assigns the rows.
void check_folds_file(Reading& reading) {
  Config& config = reading.config;
  const Entry* file = reading.find("validation", "file");
  if (file == nullptr) return;
  const auto refuse = [&](const char* table, const char* name, bool given) {
    if (given) refuse_choice(reading, table, name, "folds from a file leave", "validation.file");
  };
  refuse("validation", "shuffle", config.shuffle);
  refuse("validation", "stratified", config.stratified);
  refuse("validation", "group", true);
  refuse("validation", "repeats", config.repeats > 1);
  refuse("validation", "ordered", config.ordered);
  refuse("random", "compat", true);
  if (reading.is_good("validation.folds") && config.folds == 0)
    reading.diagnostics.add(file->location, "without folds there is nothing to read from validation.file",
                            "set validation.folds to the number of folds in the file");
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
    reading.diagnostics.add(outer->location, "outer folds would be later or earlier rows at random",
                            "remove validation.outer or validation.ordered");
  if (config.folds == 0 && config.share == 0)
    reading.diagnostics.add(outer->location, "without validation nothing is tuned, so nothing is nested",
                            "set validation.folds to 2 or more");
}

void check_share(Reading& reading) {
  if (reading.find("validation", "share") == nullptr) return;
  for (const Parameter& key : keys())
    if (const Entry* entry = key.has(kFoldsOnly) ? reading.find(key.table, key.name) : nullptr)
      reading.diagnostics.add(entry->location, fmt::format("{} has no meaning with validation.share", key.name),
                              "keep one of the two", "a share of the rows is drawn at random, once");
  if (!reading.is_good("validation.share")) return;
  reading.config.folds = 1;
  reading.config.shuffle = false;  // the plan keeps its hash
}

}  // namespace

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
  check_order(reading);
  check_folds_file(reading);
  check_share(reading);
  check_repeats(reading);
  check_outer(reading);
  settle_within(reading.config);
}

void check_search(Reading& reading) {
  const Config& config = reading.config;
  Diagnostics& diagnostics = reading.diagnostics;
  const Entry* params = reading.find_table(kSearched);
  const Entry* method = reading.find("search", "method");
  check_compat(reading, method);
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

}  // namespace mokume::config
