#include "config/model_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>

#include "config/diagnostics.hpp"
#include "config/expanded.hpp"
#include "config/space.hpp"
#include "config/tagged_table.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

class ModelValues {
 public:
  ModelValues(Reading& reading, Origin origin)
      : reading_(reading),
        origin_(origin),
        config_(reading.config),
        diagnostics_(reading.diagnostics),
        takes_(config_.model + " takes: ") {}

  void read() {
    if (reading_.schema) {
      for (const Entry& entry : entries_of(kOptions)) read_option(entry);
    }
    check_references();
    const std::string method = reading_.is_good("search.method") ? config_.method : "";
    for (const Entry& entry : entries_of(kSearched)) {
      if (reading_.schema) {
        read_searched(entry, method);
      } else {
        read_space(entry.key, nullptr, method, entry.value, diagnostics_);
      }
    }
    if (!reading_.schema) return;
    for (const Parameter& parameter : *reading_.schema) {
      try {
        keep_behaviour(parameter);
        fill_in(parameter);
        if (parameter.has(kPlanIfSet)) leave_out_of_plan(parameter);
      } catch (const std::exception& error) {
        diagnostics_.add(model_location(), error.what());
      }
    }
  }

 private:
  const std::vector<Entry>& entries_of(const char* table) const {
    static const std::vector<Entry> none;
    const Entry* entry = reading_.find_table(table);
    return entry == nullptr ? none : entry->value.entries;
  }

  const Location& model_location() const { return reading_.find("", "model")->value.location; }

  // ---- [model_options]

  void read_option(const Entry& entry) {
    const Parameter* known = find(*reading_.schema, entry.key);
    if (known == nullptr && only_expands(entry.key)) return;
    if (known == nullptr) return reading_.report_unknown(kOptions, entry, names_of(*reading_.schema), takes_);
    if (known->is_tagged()) return read_tables(*known, entry.value);
    if (const Entry* searched = reading_.find(kSearched, entry.key))
      return diagnostics_.add(entry.location,
                              fmt::format("{} is in both [model_options] and [search.params]", in_quotes(entry.key)),
                              "keep one of the two", "it is searched at " + diagnostics_.where(searched->location));
    const bool list = entry.value.kind == Node::Kind::array && known->type != Type::selection;
    if (list || entry.value.kind == Node::Kind::table)
      return diagnostics_.add(entry.value.location,
                              fmt::format("{} must be one value here, not {}", known->name, describe(entry.value.kind)),
                              "values to search belong to [search.params]");
    auto field = read_field(*known, entry.value, references_, diagnostics_);
    if (!field) return;
    if (field->reference.empty()) {
      config_.options[entry.key] = std::move(field->value);
    } else {
      config_.references[entry.key] = std::move(field->reference);
    }
  }

  // Returns whether the key only serves the model's expand() and is not an option.
  bool only_expands(const std::string& key) const {
    return std::any_of(reading_.schema->begin(), reading_.schema->end(), [&](const Parameter& p) {
      return p.expand != nullptr && std::find(p.choices.begin(), p.choices.end(), key) != p.choices.end();
    });
  }

  void read_tables(const Parameter& parameter, const Node& node) {
    std::optional<Node> list;
    if (parameter.expand != nullptr && node.kind == Node::Kind::array) {
      const Entry* searched = reading_.find_table(kSearched);
      list = expanded(parameter, reading_.find_table(kOptions)->value, searched == nullptr ? nullptr : &searched->value,
                      origin_, diagnostics_);
      if (!list) return;
    }
    auto tagged = read_tagged(parameter, list ? *list : node, references_, diagnostics_);
    if (!tagged) return;
    if (!tagged->chosen_by.empty()) search_types(*tagged, node.location);
    config_.tagged[parameter.name] = std::move(*tagged);
  }

  // Makes the types of alternatives the values that a search can give to the parameter.
  void search_types(const TaggedTables& alternatives, const Location& location) {
    Parameter& type = types_.emplace_back();
    type.name = alternatives.chosen_by;
    type.type = Type::text;
    for (const TaggedTable& table : alternatives.tables) type.choices.push_back(table.type);
    references_.push_back({type.name, &type, location});
  }

  bool has_alternatives(const std::string& name) const {
    const auto tagged = config_.tagged.find(name);
    return tagged != config_.tagged.end() && !tagged->second.chosen_by.empty();
  }

  // ---- [search.params]

  // Checks that every "$name" is searched. Parameters that misspelt references probably mean count as used.
  void check_references() {
    if (reading_.is_meant("search", "params")) return;  // the misspelt table may hold the parameters
    std::vector<std::string> searched;
    for (const Entry& entry : entries_of(kSearched)) searched.push_back(entry.key);
    for (const Reference& reference : references_) {
      if (std::find(searched.begin(), searched.end(), reference.name) != searched.end()) continue;
      const std::string best = closest(reference.name, searched);
      if (!best.empty()) almost_used_.insert(best);
      diagnostics_.add(reference.location, fmt::format("{} is not searched", in_quotes("$" + reference.name)),
                       best.empty() ? fmt::format("add {} to [{}]", printable(reference.name), kSearched)
                                    : fmt::format("did you mean '${}'?", printable(best)),
                       searched.empty() ? "" : "searched parameters: " + printable(join(searched), 1000));
    }
  }

  void read_searched(const Entry& entry, const std::string& method) {
    const Parameter* known = find(*reading_.schema, entry.key);
    if (known != nullptr && known->is_tagged() && !has_alternatives(known->name)) {
      const Entry* given = reading_.find(kOptions, known->name);
      const bool wrong = given != nullptr && given->value.kind == Node::Kind::array;
      if (wrong && known->type == Type::tagged_table) return;  // its alternatives have diagnostics
      return diagnostics_.add(
          entry.location, fmt::format("{} cannot be searched as a whole", in_quotes(entry.key)),
          known->type == Type::tagged_table
              ? fmt::format("list its tables in [{}], and here their types", kOptions)
              : fmt::format("search its parts: \"$name\" in [{}] refers to the parameter 'name'", kOptions));
    }
    std::vector<Reference> takers;
    if (known != nullptr && !known->is_tagged()) takers.push_back({entry.key, known, {}});
    for (const Reference& reference : references_)
      if (reference.name == entry.key) takers.push_back(reference);
    if (known == nullptr && !takers.empty() && !is_free_name(entry)) return;
    if (!takers.empty()) {
      check_takers(entry, method, std::move(takers));
    } else if (almost_used_.count(entry.key) == 0) {
      std::vector<std::string> searchable;
      for (const Parameter& parameter : *reading_.schema)
        if (!parameter.is_tagged()) searchable.push_back(parameter.name);
      reading_.report_unknown(kSearched, entry, searchable, takes_);
    }
  }

  // Returns whether the name, which is not a parameter of the model, can be a column of results.csv.
  bool is_free_name(const Entry& entry) {
    const bool column = entry.key == "candidate" || entry.key == "bootstrap" || entry.key == "fold" ||
                        entry.key == "n" || entry.key == "status";
    if (entry.key.empty() || !std::all_of(entry.key.begin(), entry.key.end(), is_plain)) {
      diagnostics_.add(entry.location, fmt::format("{} cannot name a searched parameter", in_quotes(entry.key)),
                       "use letters, digits, '_' and '-'");
      return false;
    }
    if (column)
      diagnostics_.add(entry.location, fmt::format("{} is already a column of results.csv", in_quotes(entry.key)),
                       "give the searched parameter another name");
    return !column;
  }

  // Checks that the values suit every parameter that refers to them. If one of these parameters is an integer, all
  // values must be integers.
  void check_takers(const Entry& entry, const std::string& method, std::vector<Reference> takers) {
    std::stable_partition(takers.begin(), takers.end(),
                          [](const Reference& taker) { return taker.parameter->type == Type::integer; });
    const bool integers = takers.front().parameter->type == Type::integer;
    std::optional<search::Space> space;
    std::set<const Parameter*> checked;
    for (const Reference& taker : takers) {
      if (!checked.insert(taker.parameter).second) continue;
      Parameter wanted = *taker.parameter;
      if (integers && wanted.type == Type::real) wanted.type = Type::integer;
      Diagnostics found = diagnostics_.empty_copy();
      auto read = read_space(entry.key, &wanted, method, entry.value, found);
      const bool by_name = taker.location.line == 0;
      diagnostics_.merge(std::move(found), by_name ? ""
                                                   : fmt::format("{} is used for {} at {}", printable(entry.key),
                                                                 wanted.name, diagnostics_.where(taker.location)));
      if (!space) space = std::move(read);
    }
    if (!space || !read_conditions(entry.value, config_.spaces, invalid_, method, *space, diagnostics_) ||
        (!space->when.empty() && !set_otherwise(entry, takers, integers, *space))) {
      invalid_.insert(entry.key);
      return;
    }
    config_.spaces.push_back(std::move(*space));
  }

  // Sets the value that the parameter has where it does not count: the given one, or the default of all that take it.
  bool set_otherwise(const Entry& entry, const std::vector<Reference>& takers, bool integers, search::Space& space) {
    const Entry* const given = entry.value.find("otherwise");
    std::optional<search::Value> first;
    for (const Reference& taker : takers) {
      Parameter wanted = *taker.parameter;
      if (integers && wanted.type == Type::real) wanted.type = Type::integer;
      const auto value = given != nullptr ? read_value(wanted, given->value, diagnostics_) : default_value(wanted);
      if (given != nullptr && !value) return false;
      if (!first) first = value;
      if (value && *value == *first) continue;
      diagnostics_.add(entry.location,
                       fmt::format("{} has 'when', but no default for the other candidates", in_quotes(entry.key)),
                       "set 'otherwise'");
      return false;
    }
    space.otherwise = std::move(*first);
    return true;
  }

  // ---- defaults

  void fill_in(const Parameter& parameter) {
    const std::string& name = parameter.name;
    const bool tagged = parameter.is_tagged();
    if ((!tagged && reading_.find(kSearched, name) != nullptr) || reading_.find(kOptions, name) != nullptr) return;
    if (config_.options.count(name) > 0) return;  // keep_behaviour() has set the value
    if (tagged) {
      if (auto tables = default_tagged(parameter)) {
        config_.tagged[name] = std::move(*tables);
        return;
      }
    } else if (auto value = default_value(parameter)) {
      config_.options[name] = std::move(*value);
      return;
    }
    if (!reading_.is_meant(kOptions, name) && !reading_.is_meant(kSearched, name))
      diagnostics_.add(model_location(), fmt::format("{} needs a value for '{}'", config_.model, name),
                       tagged ? "add it to [model_options]" : "add it to [model_options] or [search.params]");
  }

  // Sets the value that preserves the results of a run that is older than the parameter.
  void keep_behaviour(const Parameter& parameter) {
    if (origin_ != Origin::run || parameter.before.empty() || reading_.find(kSearched, parameter.name) != nullptr)
      return;
    config_.options.try_emplace(parameter.name, *before(parameter));
  }

  void leave_out_of_plan(const Parameter& parameter) {
    const auto tagged = config_.tagged.find(parameter.name);
    if (tagged != config_.tagged.end() && default_tagged(parameter) == tagged->second)
      config_.unplanned.insert(parameter.name);
    const auto option = config_.options.find(parameter.name);
    if (option != config_.options.end() && before(parameter) == option->second)
      config_.unplanned.insert(parameter.name);
  }

  static std::optional<search::Value> before(const Parameter& parameter) {
    if (parameter.before.empty()) return default_value(parameter);
    return Json::parse(parameter.before).get<std::string>();
  }

  Reading& reading_;
  const Origin origin_;
  Config& config_;
  Diagnostics& diagnostics_;
  std::string takes_;
  std::vector<Reference> references_;  // every "$name" of [model_options], and every list of alternatives
  std::deque<Parameter> types_;        // the types of alternatives, for the search
  std::set<std::string> invalid_;      // searched parameters with diagnostics
  std::set<std::string> almost_used_;  // searched parameters that misspelt references probably mean
};

}  // namespace

void read_model_values(Reading& reading, Origin origin) { ModelValues(reading, origin).read(); }

}  // namespace mokume::config
