#include "config/schema.hpp"

#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include "config/diagnostics.hpp"
#include "config/keys.hpp"
#include "config/space.hpp"

namespace mokume::config {
namespace {

Json plain_text() { return Json::parse(R"({"type": "string", "minLength": 1})"); }
Json pattern(const char* expression) { return {{"type", "string"}, {"pattern", expression}}; }
Json either(Json schemas) { return {{"anyOf", std::move(schemas)}}; }
Json described(Json schema, const std::string& doc) {
  schema["description"] = doc;
  return schema;
}

Json list_of(Json item) {
  Json list = Json::parse(R"({"type": "array", "minItems": 1, "uniqueItems": true})");
  list["items"] = std::move(item);
  return list;
}

Json closed_object(Json properties, const Json& required = Json::array()) {
  Json result = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) result["required"] = required;
  return result;
}

Json number(const Parameter& parameter) {
  // The bounds in model schemas are reals.
  const auto bound = [&](double value) {
    return parameter.has(kOfModel) ? Json(value) : Json(static_cast<int64_t>(value));
  };
  const Range& range = parameter.range;
  Json result = {{"type", parameter.type == Type::real ? "number" : "integer"}};
  if (std::isfinite(range.low)) result["minimum"] = bound(range.low);
  if (std::isfinite(range.low) && range.without_low) result["exclusiveMinimum"] = true;
  if (std::isfinite(range.high)) result["maximum"] = bound(range.high);
  if (std::isfinite(range.high) && range.without_high) result["exclusiveMaximum"] = true;
  return parameter.has(kZeroAllowed) ? either({{{"enum", {0}}}, std::move(result)}) : result;
}

Json properties_of(const std::vector<Parameter>& parameters);

// Returns the schema of a value. For a table whose keys the model defines, allows any object.
Json value_schema(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::real:
    case Type::integer:
      return number(parameter);
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::text:
      if (!parameter.choices.empty()) return {{"enum", parameter.choices}};
      return parameter.has(kOfModel) ? Json{{"type", "string"}} : plain_text();
    case Type::name:
      return pattern("^[A-Za-z0-9_-][A-Za-z0-9._-]*$");
    case Type::seed:
      return Json::parse(
          R"({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]})");
    case Type::size:
      return Json::parse(R"({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "minLength": 1}]})");
    case Type::selection: {
      Json list = list_of(plain_text());
      if (parameter.has(kEmptyAllowed)) list.erase("minItems");
      return either({parameter.has(kEmptyAllowed) ? Json{{"type", "string"}} : plain_text(), std::move(list)});
    }
    case Type::texts: {
      Json list = list_of(parameter.choices.empty() ? plain_text() : Json{{"enum", parameter.choices}});
      if (parameter.has(kEmptyAllowed)) list.erase("minItems");
      return list;
    }
    case Type::directories:
      return list_of(pattern("^/"));
    case Type::standardize: {
      const std::vector<Parameter>& parts = parameter.tags.front().parameters;
      return either({{{"enum", parameter.choices}}, closed_object(properties_of(parts), names_of(parts))});
    }
    default:
      return {{"type", "object"}};
  }
}

Json properties_of(const std::vector<Parameter>& parameters) {
  Json properties = Json::object();
  for (const Parameter& parameter : parameters) properties[parameter.name] = value_schema(parameter);
  return properties;
}

Json key_schema(const Parameter& key) {
  Json schema = described(value_schema(key), key.doc);
  if (key.has(kRequired) || key.member.get == nullptr) return schema;
  Json value = key.member.get(Config());
  if (value != 0 && value != "" && value != Json::array())
    schema["default"] = std::move(value);  // zero and "" stand for no value
  return schema;
}

// Returns the schema of a table, without the keys that the model defines.
Json table_schema(const std::string& table) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& key : keys()) {
    if (table != key.table || key.has(kWritten)) continue;
    properties[key.name] = key.type == Type::table ? described(table_schema(key.path()), key.doc) : key_schema(key);
    if (key.has(kRequired)) required.push_back(key.name);
  }
  return closed_object(std::move(properties), required);
}

Json condition_schema() {
  return {{"type", "object"},
          {"description",
           "the values of earlier parameters for which this one has an effect; for others, it is `otherwise`, or its "
           "default"}};
}

void add_notations(const Parameter& parameter, Json& schemas) {
  for (const Notation& notation : notations()) {
    if (notation.distribution && notation.is_integer() != (parameter.type == Type::integer)) continue;
    Json ends = Json::parse(R"({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})");
    if (notation.is_integer()) ends["items"]["type"] = "integer";
    Json properties = {{notation.name, described(std::move(ends), notation.doc)}};
    Json required = {notation.name};
    if (!notation.distribution) {
      properties["n"] = described(number(list_length("")), "number of values");
      required.push_back("n");
    }
    if (notation.has_step())
      properties["step"] =
          described(number(step_length("", notation)), "draws only first, first + step, ... up to last");
    properties["when"] = condition_schema();
    properties["otherwise"] = value_schema(parameter);
    schemas.push_back(closed_object(std::move(properties), required));
  }
}

std::string description(const Parameter& parameter) {
  std::string doc = parameter.doc;
  if (parameter.is_number()) doc += (doc.empty() ? "" : "; ") + range_text(parameter);
  if (!parameter.fallback.empty()) doc += (doc.empty() ? "default " : "; default ") + parameter.fallback;
  return doc;
}

// Describes a value of [model_options]: the value itself or "$name".
Json option_schema(const Parameter& parameter);

Json tagged_schema(const Parameter& parameter) {
  Json tables = Json::array();
  for (const Tag& tag : parameter.tags) {
    Json properties = {{"type", {{"enum", {tag.name}}}}};
    Json required = {"type"};
    for (const Parameter& one : tag.parameters) {
      if (one.has(kWritten)) continue;
      properties[one.name] = option_schema(one);
      if (one.fallback.empty()) required.push_back(one.name);
    }
    Json table = closed_object(std::move(properties), required);
    if (tag.expanded) table.erase("additionalProperties");
    tables.push_back(tag.doc.empty() ? table : described(std::move(table), tag.doc));
  }
  if (parameter.type == Type::tagged_tables) return {{"type", "array"}, {"items", either(std::move(tables))}};
  Json alternatives = {{"type", "array"}, {"items", {{"type", "object"}}}, {"minItems", 2}};
  tables.push_back(described(std::move(alternatives), "alternatives, of which a search chooses one by its type"));
  return either(std::move(tables));
}

Json option_schema(const Parameter& parameter) {
  const bool any_text = parameter.type == Type::text && parameter.choices.empty();
  return described(parameter.is_tagged() ? tagged_schema(parameter)
                   : any_text            ? value_schema(parameter)
                                         : either({value_schema(parameter), pattern("^\\$")}),
                   description(parameter));
}

Json options_schema(const ModelSchema& model) {
  Json properties = Json::object();
  for (const Parameter& parameter : model) {
    properties[parameter.name] = option_schema(parameter);
    if (parameter.expand != nullptr)
      for (const std::string& table : parameter.choices)
        properties[table] = {
            {"type", "object"},
            {"description", "named lists of layers, which " + parameter.name + " of type \"block\" repeat"}};
  }
  return closed_object(std::move(properties));
}

// Returns the schema of [search.params]. Other names allow any value, because a "$name" may refer to them.
Json searched_schema(const ModelSchema& model) {
  Json properties = Json::object();
  for (const Parameter& parameter : model) {
    if (parameter.is_tagged()) continue;
    Json values = {
        value_schema(parameter), list_of(value_schema(parameter)),
        closed_object({{"values", list_of(value_schema(parameter))}, {"when", condition_schema()}}, {"values"})};
    if (parameter.is_number()) add_notations(parameter, values);
    properties[parameter.name] = {{"anyOf", std::move(values)}, {"description", description(parameter)}};
  }
  Json result = closed_object(std::move(properties));
  result["additionalProperties"] = {{"type", {"number", "string", "boolean", "array", "object"}}};
  return result;
}

// ---- the starter file

// Returns the meaning with the choices, e.g. "kernel function: linear, rbf".
std::string meaning(const Parameter& parameter) {
  if (parameter.choices.empty() || parameter.is_tagged()) return parameter.doc;
  return parameter.doc + (parameter.doc.empty() ? "" : ": ") + join(parameter.choices);
}

// Returns "name = default  # meaning", or a comment to fill in if there is no default.
std::string line(const Parameter& parameter, const std::string& indent) {
  const std::string start = indent + (parameter.fallback.empty() && indent.empty() ? "# " : "");
  const std::string doc = meaning(parameter);
  return fmt::format("{}{:<14} = {:<10}{}{}\n", start, parameter.name, parameter.fallback, doc.empty() ? "" : " # ",
                     doc);
}

std::string inline_table(const Tag& tag) {
  std::string text = fmt::format("{{ type = \"{}\"", tag.name);
  for (const Parameter& parameter : tag.parameters)
    text += fmt::format(", {} = {}", parameter.name, parameter.fallback.empty() ? "..." : parameter.fallback);
  return text + " }";
}

// Lists the tagged tables that a parameter accepts, as comments to copy.
std::string tags_of(const Parameter& parameter) {
  const bool list = parameter.type == Type::tagged_tables;
  std::string text = fmt::format("\n# {} {}:\n", parameter.name, list ? "is a list of such tables" : "is one of");
  for (const Parameter& one : parameter.tags.front().parameters)
    if (one.has(kCommon)) text += line(one, "# ");
  for (const Tag& tag : parameter.tags) {
    text += list ? fmt::format("# [[{}.{}]]", kOptions, parameter.name)
                 : fmt::format("# {} = {}", parameter.name, inline_table(tag));
    text += (tag.doc.empty() ? "" : "  # ") + tag.doc + '\n';
    if (list) text += fmt::format("# type = \"{}\"\n", tag.name);
    for (const Parameter& one : tag.parameters) {
      if (one.has(kCommon) || one.has(kWritten)) continue;
      text += list ? line(one, "# ") : fmt::format("#   {:<14} {}\n", one.name, meaning(one));
    }
  }
  return text;
}

// Returns an example search over the first numeric parameter.
std::string search_example(const ModelSchema& schema) {
  for (const Parameter& parameter : schema) {
    if (parameter.type == Type::real) return parameter.name + " = { log10 = [-1, 3], n = 5 }";
    if (parameter.type == Type::integer) return parameter.name + " = [1, 2]";
  }
  return "lr = [0.1, 0.01]";
}

}  // namespace

std::string json_schema(const std::map<std::string, ModelSchema>& models) {
  Json result = {{"$schema", "http://json-schema.org/draft-04/schema#"},
                 {"title", "mokume experiment"},
                 {"description", "One experiment: a model, its data, and the candidates to compare"}};
  result.update(table_schema(""));
  // Each model has a branch, because it determines the keys of [model_options] and [search.params].
  Json branches = Json::array();
  Json names = Json::array();
  for (const auto& [name, schema] : models) {
    names.push_back(name);
    Json properties = {{"model", {{"enum", {name}}}},
                       {kOptions, options_schema(schema)},
                       {"search", {{"properties", {{"params", searched_schema(schema)}}}}}};
    branches.push_back({{"properties", std::move(properties)}});
  }
  if (!branches.empty()) {
    result["properties"]["model"]["enum"] = std::move(names);
    result["anyOf"] = std::move(branches);
  }
  return result.dump(2) + "\n";
}

std::string starter_toml(const std::string& model, const ModelSchema& schema) {
  std::string text = "# mokume run FILE. Every key: `mokume schema`.\n";
  std::string table;
  for (const Parameter& key : keys()) {
    if (key.init.empty()) continue;
    if (key.table != table) text += fmt::format("\n[{}]\n", key.table);
    table = key.table;
    text += fmt::format("{:<{}} = ", key.name, table.empty() ? 5 : 0) +
            fmt::format(fmt::runtime(key.init), model, search_example(schema)) + '\n';
  }
  text += fmt::format("\n[{}]\n", kOptions);
  for (const Parameter& parameter : schema) text += line(parameter, "");
  for (const Parameter& parameter : schema)
    if (parameter.is_tagged()) text += tags_of(parameter);
  return text;
}

}  // namespace mokume::config
