#include "config/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/keys.hpp"
#include "config/seed.hpp"
#include "config/write.hpp"

namespace mokume::config {
namespace {

bool applies(const Parameter& key, const Config& config) {
  if (config.share > 0 && key.has(kFoldsOnly)) return false;
  if (key.table == "data" && key.name == "within" && !(config.folds > 0 && config.data.learns())) return false;
  const std::vector<std::string>& sources = key.sources;
  return sources.empty() || std::find(sources.begin(), sources.end(), config.data.source) != sources.end();
}

// A zero, an empty text or an empty list can mean "not given".
bool is_set(const Parameter& key, const Json& value) {
  if (value.is_number()) return value != 0 || key.has(kZeroAllowed);
  return value.is_string() ? value != "" : !value.empty();
}

// Writes a number that fits a TOML integer as an integer, otherwise as a text.
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
