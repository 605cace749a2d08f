#include "config/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/diagnostics.hpp"
#include "config/other_names.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

// Returns the table whose path `name` spells with '_' or '-' instead of the dot, as in "search_params"; "" if there is
// none.
std::string undotted_table(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Parameter& key : keys()) {
    std::string path = key.path();
    if (path.find('.') == std::string::npos || (key.type != Type::table && key.type != Type::params)) continue;
    std::replace(path.begin(), path.end(), '.', '_');
    if (path == name) return key.path();
  }
  return "";
}

// Explains where a key of [search.params] or [model_options] belongs if it is a field of the model's tables.
std::string suggest_field(const ModelSchema& schema, const std::string& table, const std::string& name) {
  for (const Parameter& parameter : schema)
    for (const Tag& tag : parameter.tags) {
      if (config::find(tag.parameters, name) == nullptr) continue;
      const bool list = parameter.type == Type::tagged_tables;
      const std::string place = fmt::format("{}{} in [{}]", list ? "one of the " : "", parameter.name, kOptions);
      return table == kSearched ? fmt::format("use it: write {0} = \"${0}\" in {1}", name, place)
                                : fmt::format("write {} = ... in {}", name, place);
    }
  return "";
}

std::string suggest_elsewhere(const std::string& table, const std::string& name) {
  for (const Parameter& key : keys())
    if (table != key.table && !closest(name, {key.name}).empty())
      return fmt::format("did you mean '{}' in {}?", key.name, title(key.table));
  return "";
}

}  // namespace

void Reading::read_table(const std::string& table, const Node& node) {
  for (const Entry& entry : node.entries) {
    const Parameter* key = find_key(table, entry.key);
    if (key == nullptr) {
      unknown_.emplace_back(table, &entry);
    } else if (key->member.set != nullptr) {
      if (const Json value = read_setting(*key, entry.value, diagnostics); !value.is_null()) {
        key->member.set(config, value);
        good_.insert(key->path());
      }
    } else if (entry.value.kind != Node::Kind::table) {
      diagnostics.add(entry.location,
                      fmt::format("{} must be {}, not {}", key->path(), wanted(key->type), describe(entry.value.kind)));
    } else {
      tables_[key->path()] = &entry;
      if (key->type == Type::table) read_table(key->path(), entry.value);
    }
  }
}

void Reading::report_unknown_keys() {
  for (const auto& [table, entry] : unknown_) report_unknown(table, *entry, names_in(table), title(table) + " takes: ");
}

// Returns a hint at the probable meaning of an unknown key, and records this meaning in meant_.
std::string Reading::hint_for(const std::string& table, const Entry& entry, const std::vector<std::string>& known) {
  std::string hint;
  for (const Parameter& key : keys()) {
    if (entry.key != key.name || table == key.table) continue;
    hint += (hint.empty() ? in_quotes(entry.key) + " belongs to " : " or ") + title(key.table);
    meant_.insert(key.path());
  }
  if (const std::string path = table.empty() ? undotted_table(entry.key) : ""; !path.empty()) {
    meant_.insert(path);
    return fmt::format("write [{}]", path);
  }
  if (!hint.empty()) return hint;
  if (schema) {
    const bool of_model = table == kSearched || table == kOptions;
    if (of_model)
      hint = suggest_field(*schema, table, entry.key);
    else if (config::find(*schema, entry.key) != nullptr)
      return fmt::format("{} belongs to [{}] or [{}]", in_quotes(entry.key), kSearched, kOptions);
    if (!hint.empty()) return hint;
  }
  if (hint = suggest(entry.key, known); !hint.empty()) {
    meant_.insert(dotted(table, closest(entry.key, known)));
    return hint;
  }
  if (hint = instead_of_key(entry.key); !hint.empty()) return hint;
  if (hint = suggest_elsewhere(table, entry.key); !hint.empty()) return hint;
  // The key is too short for a suggestion, so it may stand for any key of its table.
  if (entry.key.size() <= 3) meant_.insert(dotted(table, "*"));
  return "";
}

void Reading::report_unknown(const std::string& table, const Entry& entry, const std::vector<std::string>& known,
                             const std::string& takes) {
  diagnostics.add(entry.location, fmt::format("unknown key {} {}", in_quotes(entry.key), inside(table)),
                  hint_for(table, entry, known), takes + join(known));
}

bool Reading::is_meant(const std::string& table, const std::string& name) const {
  if (meant_.count(dotted(table, name)) != 0 || meant_.count(dotted(table, "*")) != 0) return true;
  if (table.empty()) return false;
  const size_t dot = table.rfind('.');
  return dot == std::string::npos ? is_meant("", table) : is_meant(table.substr(0, dot), table.substr(dot + 1));
}

void Reading::report_missing_keys() {
  report_missing("", root_, {});
  for (const auto& [table, entry] : tables_) report_missing(table, entry->value, entry->location);
}

void Reading::report_missing(const std::string& table, const Node& node, const Location& header) {
  for (const Parameter& key : keys()) {
    if (table != key.table || !key.has(kRequired) || node.find(key.name) != nullptr || is_meant(table, key.name))
      continue;
    const bool is_table = key.type == Type::table;
    diagnostics.add(header,
                    fmt::format("{} is missing {}", is_table ? title(key.name) : in_quotes(key.name), inside(table)),
                    is_table ? fmt::format("add [{}]", key.name) : fmt::format("add {} = \"...\"", key.name), key.doc);
  }
}

const Entry* Reading::find(const std::string& table, const std::string& name) const {
  if (table.empty()) return root_.find(name);
  const Entry* entry = find_table(table);
  return entry == nullptr ? nullptr : entry->value.find(name);
}

const Entry* Reading::find_table(const std::string& path) const {
  const auto found = tables_.find(path);
  return found == tables_.end() ? nullptr : found->second;
}

}  // namespace mokume::config
