#include "config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <set>

#include "config/tagged_table.hpp"
#include "config/keys.hpp"
#include "config/tree.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

constexpr const char* kParams = "search.params";
constexpr const char* kOptions = "model_options";

class Reader {
 public:
  Reader(const Node& root, const SchemaLookup& lookup, Findings& findings)
      : root_(root), lookup_(lookup), findings_(findings) {}

  Config read() {
    read_table("", root_);
    find_model();
    for (const auto& [table, entry] : unknown_)
      report_unknown(table, *entry, names_in(table), title(table) + " takes: ");
    check_model();
    check_missing("", root_, nullptr);
    for (const auto& [table, entry] : tables_) check_missing(table, entry->value, entry);
    check_data();
    check_validation();
    read_options();
    check_uses();
    read_params();
    for (uint32_t p = 0; schema_ && p < schema_->n_params; ++p) fill_in(schema_->params[p]);
    check_search();
    return std::move(config_);
  }

 private:
  // ---- keys that every experiment has

  void read_table(const std::string& table, const Node& node) {
    for (const Entry& entry : node.entries) {
      const Key* key = find_key(table, entry.key);
      if (key == nullptr) {
        unknown_.emplace_back(table, &entry);
      } else if (key->slot != nullptr) {
        if (read_setting(*key, entry.value, config_, findings_)) good_.insert(dotted(table, entry.key));
      } else if (entry.value.kind != Node::Kind::table) {
        findings_.add(entry.place,
                      fmt::format("{} must be a table, not {}", dotted(table, entry.key), describe(entry.value.kind)));
      } else {
        tables_[dotted(table, entry.key)] = &entry;
        if (key->type == Type::table) read_table(dotted(table, entry.key), entry.value);
      }
    }
  }

  // A key that is misspelt, or that stands in the wrong table. What it probably means is not reported as missing.
  void report_unknown(const std::string& table, const Entry& entry, const std::vector<std::string>& known,
                      const std::string& takes) {
    const std::string message = fmt::format("unknown key {} {}", quoted(entry.key), inside(table));
    std::string hint;
    for (const Key& key : keys()) {
      if (entry.key != key.name || table == key.table) continue;
      hint += (hint.empty() ? quoted(entry.key) + " belongs to " : " or ") + title(key.table);
      meant_.insert(dotted(key.table, key.name));
    }
    if (hint.empty() && table != kParams && table != kOptions && param(entry.key) != nullptr)
      hint = fmt::format("{} belongs to [{}] or [{}]", quoted(entry.key), kParams, kOptions);
    if (hint.empty()) hint = suggest(entry.key, known);
    if (!hint.empty()) {
      for (const std::string& name : known)
        if (hint == suggest(name, {name})) meant_.insert(dotted(table, name));
    } else {
      hint = suggest_elsewhere(table, entry.key);
    }
    // Too short for a suggestion: it may mean anything in its table.
    if (hint.empty() && entry.key.size() <= 3) meant_.insert(dotted(table, "*"));
    findings_.add(entry.place, message, hint, takes + join(known));
  }

  std::string suggest_elsewhere(const std::string& table, const std::string& name) const {
    for (const Key& key : keys()) {
      if (table == key.table) continue;
      const std::string hint = suggest(name, {key.name});
      if (!hint.empty()) return fmt::format("did you mean '{}' in {}?", key.name, title(key.table));
    }
    return "";
  }

  // Whether an unknown key may have been meant as `name` in `table`, or as one of the tables around it.
  bool is_meant(const std::string& table, const std::string& name) const {
    if (meant_.count(dotted(table, name)) != 0 || meant_.count(dotted(table, "*")) != 0) return true;
    if (table.empty()) return false;
    const size_t dot = table.rfind('.');
    return dot == std::string::npos ? is_meant("", table) : is_meant(table.substr(0, dot), table.substr(dot + 1));
  }

  void check_missing(const std::string& table, const Node& node, const Entry* header) {
    for (const Key& key : keys()) {
      if (table != key.table || !key.has(kRequired) || node.find(key.name) != nullptr || is_meant(table, key.name))
        continue;
      const bool is_table = key.type == Type::table;
      const std::string cure = is_table ? fmt::format("add [{}]", key.name) : fmt::format("add {} = \"...\"", key.name);
      findings_.add(header != nullptr ? header->place : Place{},
                    fmt::format("{} is missing {}", is_table ? title(key.name) : quoted(key.name), inside(table)), cure,
                    key.doc);
    }
  }

  bool is_good(const char* path) const { return good_.count(path) != 0; }
  const Entry* entry_of(const std::string& table, const std::string& name) const {
    if (table.empty()) return root_.find(name);
    const auto found = tables_.find(table);
    return found == tables_.end() ? nullptr : found->second->value.find(name);
  }

  // ---- rules between keys

  void check_data() {
    if (!is_good("data.source")) return;
    const std::string& source = config_.data.source;
    for (const Key& key : keys()) {
      const std::vector<std::string> sources = choices_of(key.sources);
      const Entry* entry = sources.empty() ? nullptr : entry_of(key.table, key.name);
      if (entry == nullptr || std::find(sources.begin(), sources.end(), source) != sources.end()) continue;
      findings_.add(entry->place, fmt::format("data.{} has no meaning for source \"{}\"", key.name, source), "",
                    fmt::format("data.{} goes with source: {}", key.name, join(sources)));
    }
    if (source == "digits" || source == "friedman" || source == "mnist" || is_meant("data", "path")) return;
    if (entry_of("data", "path") == nullptr)
      findings_.add(entry_of("data", "source")->value.place, fmt::format("source \"{}\" needs data.path", source),
                    "add path = \"...\"");
  }

  // A share makes one fold.
  void check_validation() {
    const Entry* share = entry_of("validation", "share");
    if (share == nullptr) return;
    for (const char* other : {"folds", "shuffle"})
      if (const Entry* entry = entry_of("validation", other))
        findings_.add(entry->place, fmt::format("{} has no meaning beside validation.share", other),
                      "keep one of the two", "a share of the rows is drawn at random, once");
    if (is_good("validation.share")) config_.folds = 1;
  }

  void check_search() {
    const Entry* params = tables_.count(kParams) != 0 ? tables_.at(kParams) : nullptr;
    const Entry* method = entry_of("search", "method");
    check_compat(method);
    if (method == nullptr) {
      if (params != nullptr && !is_meant("search", "method"))
        findings_.add(params->place, "[search.params] needs a search method",
                      "add method = \"grid\" or \"random\" to [search]");
      return;
    }
    if (!is_good("search.method")) return;
    const bool none = config_.method == "none";
    if (none && params != nullptr)
      findings_.add(params->place, "[search.params] has no meaning with method \"none\"",
                    "fixed values belong to [model_options]");
    const bool absent = entry_of("search", "params") == nullptr && !is_meant("search", "params");
    if (!none && (absent || (params != nullptr && params->value.entries.empty())))
      findings_.add(method->value.place, fmt::format("method \"{}\" needs parameters to search", config_.method),
                    "add them to [search.params]");
    check_candidates(*method);
    const Entry* folds = entry_of("validation", "folds");
    if (!none && !has_no_choice() && is_good("validation.folds") && config_.folds == 0)
      findings_.add(folds->value.place, "a search compares candidates by cross-validation, so folds must not be 0",
                    "2 or more");
  }

  // Each bootstrap has one candidate.
  bool has_no_choice() const { return config_.method == "list" && config_.bootstraps > 0 && config_.n_candidates == 1; }

  void check_candidates(const Entry& method) {
    const Entry* candidates = entry_of("search", "candidates");
    const bool random = config_.method == "random", list = config_.method == "list" && config_.bootstraps > 0;
    if (random && candidates == nullptr && !is_meant("search", "candidates"))
      findings_.add(method.value.place, "method \"random\" needs the number of candidates to draw",
                    "add candidates = 100");
    if (!random && !list && candidates != nullptr)
      findings_.add(candidates->place, fmt::format("candidates has no meaning with method \"{}\"", config_.method),
                    config_.method == "list" ? "it goes with [bagging]" : "it goes with method \"random\"");
  }

  void check_compat(const Entry* method) {
    const Entry* compat = entry_of("random", "compat");
    if (compat == nullptr || config_.random_compat.empty()) return;
    if (config_.bootstraps == 0 || config_.method != "random" || config_.folds < 2 || config_.share > 0)
      findings_.add(compat->place, "compat = \"numpy\" replays bagging with random search and folds",
                    config_.bootstraps == 0 ? "add bootstraps = 12 to [bagging]"
                    : config_.method != "random"
                        ? (method == nullptr ? "add method = \"random\" to [search]"
                                             : fmt::format("the method is \"{}\"", method->value.text))
                        : "set validation.folds to 2 or more");
    if (config_.shuffle || config_.stratified)
      findings_.add(compat->place, "compat = \"numpy\" replays folds as they were drawn, which nothing shuffles",
                    fmt::format("remove validation.{}", config_.shuffle ? "shuffle" : "stratified"));
  }

  // ---- keys that the model defines

  void find_model() {
    if (!is_good("model")) return;
    try {
      schema_ = lookup_(config_.model, config_.plugin_directories, why_);
    } catch (const std::exception& error) {
      why_ = error.what();
    }
  }

  void check_model() {
    if (schema_ || !is_good("model")) return;
    // The model may be in a directory that was not understood; that has been reported.
    const bool half_known = entry_of("plugins", "directories") != nullptr && !is_good("plugins.directories");
    if (half_known || is_meant("plugins", "directories")) return;
    findings_.add(entry_of("", "model")->value.place,
                  why_.empty() ? fmt::format("there is no model '{}'", config_.model) : printable(why_, 1000));
  }

  std::vector<std::string> param_names() const {
    std::vector<std::string> names;
    for (uint32_t p = 0; schema_ && p < schema_->n_params; ++p) names.emplace_back(schema_->params[p].name);
    return names;
  }

  std::vector<std::string> searchable_names() const {
    std::vector<std::string> names;
    for (uint32_t p = 0; schema_ && p < schema_->n_params; ++p)
      if (!is_form(schema_->params[p])) names.emplace_back(schema_->params[p].name);
    return names;
  }

  const mk_param* param(const std::string& name) const {
    for (uint32_t p = 0; schema_ && p < schema_->n_params; ++p)
      if (name == schema_->params[p].name) return &schema_->params[p];
    return nullptr;
  }

  // ---- [model_options]

  void read_options() {
    if (tables_.count(kOptions) == 0 || !schema_) return;
    for (const Entry& entry : tables_.at(kOptions)->value.entries) {
      const mk_param* known = param(entry.key);
      if (known == nullptr) {
        report_unknown(kOptions, entry, param_names(), config_.model + " takes: ");
      } else if (is_form(*known)) {
        if (auto forms = read_forms(*known, entry.value, uses_, findings_))
          config_.forms[entry.key] = std::move(*forms);
      } else {
        read_option(*known, entry);
      }
    }
  }

  void read_option(const mk_param& known, const Entry& entry) {
    if (const Entry* searched = entry_of(kParams, entry.key)) {
      findings_.add(entry.place, fmt::format("{} stands in [model_options] and in [search.params]", quoted(entry.key)),
                    "keep one of the two", "it is searched at " + findings_.where(searched->place));
      return;
    }
    if (entry.value.kind == Node::Kind::array || entry.value.kind == Node::Kind::table) {
      findings_.add(entry.value.place,
                    fmt::format("{} must be one value here, not {}", known.name, describe(entry.value.kind)),
                    "values to search belong to [search.params]");
      return;
    }
    auto field = read_field(known, entry.value, uses_, findings_);
    if (!field) return;
    if (field->reference.empty()) {
      config_.options[entry.key] = std::move(field->value);
    } else {
      config_.references[entry.key] = std::move(field->reference);
    }
  }

  // ---- [search.params]

  // Every "$name" must be searched. A searched parameter that a misspelt one probably means is in use.
  void check_uses() {
    std::vector<std::string> searched;
    if (tables_.count(kParams) != 0)
      for (const Entry& entry : tables_.at(kParams)->value.entries) searched.push_back(entry.key);
    for (const Use& use : uses_) {
      if (std::find(searched.begin(), searched.end(), use.name) != searched.end()) continue;
      std::string hint;
      for (const std::string& name : searched) {
        if (suggest(use.name, searched) != suggest(name, {name})) continue;
        hint = fmt::format("did you mean '${}'?", printable(name));
        almost_used_.insert(name);
      }
      if (hint.empty()) hint = fmt::format("add {} to [{}]", printable(use.name), kParams);
      findings_.add(use.place, fmt::format("{} is not searched", quoted("$" + use.name)), hint,
                    searched.empty() ? "" : "searched are: " + printable(join(searched), 1000));
    }
  }

  void read_params() {
    if (tables_.count(kParams) == 0) return;
    const std::string method = is_good("search.method") ? config_.method : "";
    for (const Entry& entry : tables_.at(kParams)->value.entries) {
      if (schema_) {
        read_searched(entry, method);
      } else {
        read_space(entry.key, nullptr, method, entry.value, findings_);
      }
    }
  }

  void read_searched(const Entry& entry, const std::string& method) {
    const mk_param* known = param(entry.key);
    if (known != nullptr && is_form(*known)) {
      findings_.add(entry.place, fmt::format("{} cannot be searched as a whole", quoted(entry.key)),
                    fmt::format("search its parts: \"$name\" in [{}] stands for the parameter 'name'", kOptions));
      return;
    }
    std::vector<Use> takers;
    if (known != nullptr) takers.push_back({entry.key, known, {}});
    for (const Use& use : uses_)
      if (use.name == entry.key) takers.push_back(use);
    if (known == nullptr && !takers.empty() && !is_free_name(entry)) return;
    if (!takers.empty()) {
      check_takers(entry, method, std::move(takers));
    } else if (almost_used_.count(entry.key) == 0) {
      report_unknown(kParams, entry, searchable_names(), config_.model + " takes: ");
    }
  }

  // A name that the model does not know becomes a column of results.csv.
  bool is_free_name(const Entry& entry) {
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    if (entry.key.empty() || !std::all_of(entry.key.begin(), entry.key.end(), plain)) {
      findings_.add(entry.place, fmt::format("{} cannot name a searched parameter", quoted(entry.key)),
                    "use letters, digits, '_' and '-'");
      return false;
    }
    for (const char* column : {"candidate", "bootstrap", "fold", "n", "status"}) {
      if (entry.key != column) continue;
      findings_.add(entry.place, fmt::format("{} is a column of results.csv already", quoted(entry.key)),
                    "give the searched parameter another name");
      return false;
    }
    return true;
  }

  // The values must suit every parameter that takes them. Where one of these is an integer, integers are drawn.
  void check_takers(const Entry& entry, const std::string& method, std::vector<Use> takers) {
    std::stable_partition(takers.begin(), takers.end(), [](const Use& t) { return t.param->type == MK_PARAM_INTEGER; });
    const bool integers = takers.front().param->type == MK_PARAM_INTEGER;
    std::optional<search::Space> space;
    std::set<const mk_param*> checked;
    for (const Use& taker : takers) {
      if (!checked.insert(taker.param).second) continue;
      mk_param wanted = *taker.param;
      if (integers && wanted.type == MK_PARAM_REAL) wanted.type = MK_PARAM_INTEGER;
      Findings found = findings_.empty_copy();
      auto read = read_space(entry.key, &wanted, method, entry.value, found);
      const bool by_name = taker.place.line == 0;
      findings_.merge(std::move(found), by_name ? ""
                                                : fmt::format("{} is taken as {} at {}", printable(entry.key),
                                                              wanted.name, findings_.where(taker.place)));
      if (!space) space = std::move(read);
    }
    if (space) config_.spaces.push_back(std::move(*space));
  }

  void fill_in(const mk_param& known) {
    const bool form = is_form(known);
    if ((!form && entry_of(kParams, known.name) != nullptr) || entry_of(kOptions, known.name) != nullptr) return;
    try {
      if (form) {
        if (auto forms = default_forms(known)) {
          config_.forms[known.name] = std::move(*forms);
          return;
        }
      } else if (auto value = default_value(known)) {
        config_.options[known.name] = std::move(*value);
        return;
      }
      if (!is_meant(kOptions, known.name) && !is_meant(kParams, known.name)) {
        findings_.add(entry_of("", "model")->value.place,
                      fmt::format("{} needs a value for '{}'", config_.model, known.name),
                      form ? "add it to [model_options]" : "add it to [model_options] or [search.params]");
      }
    } catch (const std::exception& error) {
      findings_.add(entry_of("", "model")->value.place, error.what());
    }
  }

  const Node& root_;
  const SchemaLookup& lookup_;
  Findings& findings_;
  Config config_;
  std::optional<ModelSchema> schema_;
  std::string why_;  // there is no schema_
  std::vector<std::pair<std::string, const Entry*>> unknown_;
  std::map<std::string, const Entry*> tables_;  // by dotted path: those that are there and are tables
  std::set<std::string> good_;                  // dotted paths of the keys whose values are valid
  std::vector<Use> uses_;                       // every "$name" of [model_options]
  std::set<std::string> almost_used_;           // searched parameters that misspelt "$name"s probably mean
  std::set<std::string> meant_;                 // dotted paths of the keys that unknown keys probably mean
};

}  // namespace

ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup) {
  Findings findings(file);
  std::optional<Node> root = read_tree(text, 0, findings);
  if (!root) return {std::nullopt, findings.take()};
  for (size_t i = 0; i < sets.size(); ++i) apply_set(*root, sets[i], static_cast<uint32_t>(i + 1), findings);
  if (!findings.empty()) return {std::nullopt, findings.take()};

  Config config = Reader(*root, lookup, findings).read();
  if (!findings.empty()) return {std::nullopt, findings.take()};
  return {std::move(config), {}};
}

}  // namespace mokume::config
