// A checked config as TOML and as canonical JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "config/tagged_table.hpp"
#include "config/keys.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

using nlohmann::json;
using search::Space;
using search::Value;

// ---- TOML

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

std::string toml_value(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return toml_text(*text);
  return search::to_text(value);
}

template <class T, class Function>
std::string toml_list(const std::vector<T>& items, Function one) {
  std::string result = "[";
  for (const T& item : items) result += (result.size() > 1 ? ", " : "") + one(item);
  return result + "]";
}

std::string toml_field(const Field& field) {
  return field.key + " = " + (field.reference.empty() ? toml_value(field.value) : toml_text("$" + field.reference));
}

std::string toml_form(const Form& form) {
  std::string result = "{ type = " + toml_text(form.type);
  for (const Field& field : form.fields) result += ", " + toml_field(field);
  return result + " }";
}

std::string toml_forms(const Forms& forms) {
  if (!forms.list) return toml_form(forms.items.front());
  std::string result = "[";
  for (const Form& form : forms.items) result += "\n  " + toml_form(form) + ",";
  return result + (forms.items.empty() ? "]" : "\n]");
}

std::string toml_options(const Config& config) {
  std::string result;
  for (const auto& [name, value] : config.options) result += fmt::format("{} = {}\n", name, toml_value(value));
  for (const auto& [name, searched] : config.references)
    result += fmt::format("{} = {}\n", name, toml_text("$" + searched));
  for (const auto& [name, forms] : config.forms) result += fmt::format("{} = {}\n", name, toml_forms(forms));
  return result;
}

std::string toml_standardize(const data::Standardize& s) {
  switch (s.kind) {
    case data::Standardize::Kind::features:
      return "\"features\"";
    case data::Standardize::Kind::fixed:
      return fmt::format("{{ mean = {}, scale = {} }}", real_text(s.mean), real_text(s.scale));
    case data::Standardize::Kind::none:
      break;
  }
  return "\"none\"";
}

// A decimal that TOML's integers hold stands bare, any other as a text.
std::string toml_seed(const std::string& text) {
  const bool fits = text == std::to_string(seed_of(text)) && seed_of(text) <= INT64_MAX;
  return fits ? text : toml_text(text);
}

std::string toml_space(const Space& space) {
  switch (space.kind) {
    case Space::Kind::real_uniform:
      return fmt::format("{{ uniform = [{}, {}] }}", real_text(space.low), real_text(space.high));
    case Space::Kind::log10_uniform:
      return fmt::format("{{ log10_uniform = [{}, {}] }}", real_text(space.low), real_text(space.high));
    case Space::Kind::integer_uniform:
      return fmt::format("{{ int = [{}, {}] }}", static_cast<int64_t>(space.low), static_cast<int64_t>(space.high));
    case Space::Kind::list:
      break;
  }
  return toml_list(space.values, toml_value);
}

// What `slot` holds, as TOML; "" where that says "not given".
struct TomlOf {
  const Key& key;
  std::string number(uint64_t value) const {
    return value == 0 && key.minimum > 0 && !key.has(kZeroAllowed) ? "" : std::to_string(value);
  }
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string* text) const {
    if (text->empty()) return "";
    return key.type == Type::seed ? toml_seed(*text) : toml_text(*text);
  }
  std::string operator()(const bool* flag) const { return *flag ? "true" : "false"; }
  std::string operator()(const double* share) const { return *share == 0 ? "" : real_text(*share); }
  std::string operator()(const int64_t* value) const { return number(static_cast<uint64_t>(*value)); }
  std::string operator()(const uint32_t* value) const { return number(*value); }
  std::string operator()(const uint64_t* value) const { return number(*value); }
  std::string operator()(const std::vector<std::string>* texts) const {
    return texts->empty() ? "" : toml_list(*texts, toml_text);
  }
  std::string operator()(const data::Missing* missing) const {
    return toml_text(choices_of(key.choices).at(static_cast<size_t>(*missing)));
  }
  std::string operator()(const data::Standardize* s) const { return toml_standardize(*s); }
};

bool applies(const Key& key, const Config& config) {
  const bool with_folds = key.type != Type::share && std::string_view(key.table) == "validation";
  if (config.share > 0 && with_folds && std::string_view(key.name) != "stratified") return false;
  const std::vector<std::string> sources = choices_of(key.sources);
  return sources.empty() || std::find(sources.begin(), sources.end(), config.data.source) != sources.end();
}

// ---- JSON

json json_value(const Value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

struct JsonOf {
  const Key& key;
  json operator()(std::monostate) const { return nullptr; }
  json operator()(const std::string* text) const {
    return key.type == Type::seed ? without_leading_zeros(*text) : *text;
  }
  json operator()(const data::Missing* missing) const {
    return choices_of(key.choices).at(static_cast<size_t>(*missing));
  }
  json operator()(const data::Standardize* s) const {
    if (s->kind == data::Standardize::Kind::fixed) return {{"mean", s->mean}, {"scale", s->scale}};
    return s->kind == data::Standardize::Kind::features ? "features" : "none";
  }
  template <class T>
  json operator()(const T* value) const {
    return *value;
  }
};

json json_space(const Space& space) {
  switch (space.kind) {
    case Space::Kind::real_uniform:
      return {{"name", space.name}, {"uniform", {space.low, space.high}}};
    case Space::Kind::log10_uniform:
      return {{"name", space.name}, {"log10_uniform", {space.low, space.high}}};
    case Space::Kind::integer_uniform:
      return {{"name", space.name}, {"int", {static_cast<int64_t>(space.low), static_cast<int64_t>(space.high)}}};
    case Space::Kind::list:
      break;
  }
  json values = json::array();
  for (const Value& value : space.values) values.push_back(json_value(value));
  return {{"name", space.name}, {"values", std::move(values)}};
}

json json_forms(const Forms& forms) {
  json list = json::array();
  for (const Form& form : forms.items) {
    json one = {{"type", form.type}};
    for (const Field& field : form.fields)
      one[field.key] = field.reference.empty() ? json_value(field.value) : json("$" + field.reference);
    list.push_back(std::move(one));
  }
  return forms.list ? list : list.front();
}

}  // namespace

std::string to_toml(const Config& config) {
  Config copy = config;
  std::string result;
  std::string table;
  const auto begin_table = [&](const std::string& name) {
    if (name == table) return;
    table = name;
    result += fmt::format("\n[{}]\n", name);
  };
  for (const Key& key : keys()) {
    if (key.type == Type::params) {
      if (!config.spaces.empty()) begin_table(dotted(key.table, key.name));
      for (const Space& space : config.spaces) result += fmt::format("{} = {}\n", space.name, toml_space(space));
      const std::string options = toml_options(config);
      if (!options.empty()) begin_table("model_options");
      result += options;
    }
    if (key.slot == nullptr || !applies(key, config)) continue;
    const std::string value = std::visit(TomlOf{key}, key.slot(copy));
    if (value.empty()) continue;
    begin_table(key.table);
    result += fmt::format("{} = {}\n", key.name, value);
  }
  return result;
}

std::string canonical_json(const Config& config) {
  Config copy = config;
  json result = json::object();
  for (const Key& key : keys()) {
    // A share that is not given stands nowhere: plans of runs made before there were shares keep their hash.
    if (!key.has(kInPlan) || (key.type == Type::share && config.share == 0)) continue;
    json& table = *key.table == '\0' ? result : result[key.table];
    table[key.name] = std::visit(JsonOf{key}, key.slot(copy));
  }
  json& params = result["search"]["params"] = json::array();
  for (const Space& space : config.spaces) params.push_back(json_space(space));
  json& options = result["model_options"] = json::object();
  for (const auto& [name, value] : config.options) options[name] = json_value(value);
  for (const auto& [name, searched] : config.references) options[name] = "$" + searched;
  for (const auto& [name, forms] : config.forms) options[name] = json_forms(forms);
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace mokume::config
