#include "config/resolved.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/space.hpp"

namespace mokume::config {
namespace {

using search::Space;

std::string toml_of(const Json& value);

std::string toml_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_real(double value) {
  std::string text = base::shortest(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_list(const Json& list) {
  const bool tables = !list.empty() && list.front().is_object();
  std::string result;
  for (const Json& item : list)
    result += tables ? "\n  " + toml_of(item) + "," : (result.empty() ? "" : ", ") + toml_of(item);
  return '[' + result + (tables ? "\n]" : "]");
}

std::string toml_table(const Json& table) {
  std::string result;
  for (const auto& [key, value] : table.items())
    result += (result.empty() ? "" : ", ") + fmt::format("{} = {}", key, toml_of(value));
  return "{ " + result + " }";
}

// Writes each table of a list on its own line. Reals have a point or an exponent, so that TOML reads them as reals.
std::string toml_of(const Json& value) {
  if (value.is_string()) return toml_text(value);
  if (value.is_number_float()) return toml_real(value);
  if (value.is_array()) return toml_list(value);
  return value.is_object() ? toml_table(value) : value.dump();
}

bool applies(const Parameter& key, const Config& config) {
  if (config.share > 0 && key.has(kFoldsOnly)) return false;
  if (key.table == "data" && key.name == "within" && !(config.folds > 0 && config.data.learns())) return false;
  if (key.table == "search" && key.name == "at_once" && config.trials == 0) return false;
  if (key.has(kWritten) && key.member.get(config) == value_before(key)) return false;
  const std::vector<std::string>& sources = key.sources;
  return sources.empty() || std::find(sources.begin(), sources.end(), config.data.source) != sources.end();
}

// Returns whether the key has a value. A zero, an empty text or an empty list can mean "not given".
bool is_set(const Parameter& key, const Json& value) {
  if (value.is_number()) return value != 0 || key.has(kZeroAllowed);
  return value.is_string() ? value != "" : !value.empty();
}

// Returns the seed as an integer if a TOML integer can represent its digits, otherwise as a text.
Json bare_seed(const Json& text) {
  const uint64_t seed = seed_of(text);
  return text == std::to_string(seed) && seed <= INT64_MAX ? Json(seed) : text;
}

// Returns [model_options] in the order of the resolved file.
Json options_of(const Config& config) {
  Json options = Json::object();
  for (const auto& [name, value] : config.options) options[name] = json_of(value);
  for (const auto& [name, searched] : config.references) options[name] = "$" + searched;
  for (const auto& [name, tagged] : config.tagged) options[name] = json_of(tagged);
  return options;
}

std::string toml_lines(const std::string& table, const Json& values) {
  std::string lines;
  for (const auto& [name, value] : values.items()) lines += fmt::format("{} = {}\n", name, toml_of(value));
  return lines.empty() || table.empty() ? lines : fmt::format("\n[{}]\n{}", table, lines);
}

}  // namespace

Json json_of(const search::Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json json_of(const Field& field) {
  return field.reference.empty() ? json_of(field.value) : Json("$" + field.reference);
}

Json json_of(const TaggedTables& tagged) {
  Json list = Json::array();
  for (const TaggedTable& table : tagged.tables) {
    Json& one = list.emplace_back(Json::object());
    one["type"] = table.type;
    for (const Field& field : table.fields) one[field.key] = json_of(field);
  }
  if (tagged.list || !tagged.chosen_by.empty()) return list;
  return std::move(list.front());
}

Json json_of(const std::vector<search::Value>& values) {
  Json list = Json::array();
  for (const search::Value& value : values) list.push_back(json_of(value));
  return list;
}

Json json_of(const Space& space) {
  Json when = Json::object();
  for (const search::Condition& condition : space.when) when[condition.name] = json_of(condition.values);
  if (space.kind == Space::Kind::list) {
    if (when.empty()) return json_of(space.values);
    return {{"values", json_of(space.values)}, {"when", when}, {"otherwise", json_of(space.otherwise)}};
  }
  const Notation& notation = notation_of(space.kind);
  Json ends = {space.low, space.high};
  if (notation.is_integer()) ends = {static_cast<int64_t>(space.low), static_cast<int64_t>(space.high)};
  Json table = {{notation.name, ends}};
  if (space.step > 0) table["step"] = notation.is_integer() ? Json(static_cast<int64_t>(space.step)) : Json(space.step);
  if (!when.empty()) table["when"] = when, table["otherwise"] = json_of(space.otherwise);
  return table;
}

std::string to_toml(const Config& config) {
  std::string result;
  std::string table;
  Json values = Json::object();
  const auto end_table = [&] {
    result += toml_lines(table, values);
    values.clear();
  };
  for (const Parameter& key : keys()) {
    if (key.table != table) end_table();
    table = key.table;
    if (key.type == Type::params) {
      end_table();
      Json spaces = Json::object();
      for (const search::Space& space : config.spaces) spaces[space.name] = json_of(space);
      result += toml_lines(kSearched, spaces) + toml_lines(kOptions, options_of(config));
    }
    if (key.member.get == nullptr || !applies(key, config)) continue;
    const Json value = key.member.get(config);
    if (is_set(key, value)) values[key.name] = key.type == Type::seed ? bare_seed(value) : value;
  }
  end_table();
  return result;
}

std::string canonical_json(const Config& config) {
  using nlohmann::json;
  json result = json::object();
  for (const Parameter& key : keys()) {
    if (!key.has(kInPlan)) continue;
    const Json value = key.member.get(config);
    if (key.has(kPlanIfSet) && value == value_before(key)) continue;
    json& table = key.table.empty() ? result : result[key.table];
    table[key.name] = key.type == Type::seed ? json(without_leading_zeros(value)) : json(value);
  }
  json& params = result["search"]["params"] = json::array();
  for (const search::Space& space : config.spaces) {
    json& one = params.emplace_back(json_of(space));
    if (one.is_array()) one = {{"values", one}};
    one["name"] = space.name;
  }
  json& options = result[kOptions] = options_of(config);
  for (const std::string& name : config.unplanned) options.erase(name);
  if (!config.file_sums.empty()) result["files"] = config.file_sums;
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace mokume::config
