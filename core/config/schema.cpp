// JSON Schema of experiment files, from the tables that parse() checks against.
#include <nlohmann/json.hpp>

#include <cmath>

#include "config/tagged_table.hpp"
#include "config/keys.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

using nlohmann::ordered_json;

ordered_json text_schema() { return {{"type", "string"}, {"minLength", 1}}; }

ordered_json list_of(ordered_json item) {
  return {{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", std::move(item)}};
}

ordered_json either(ordered_json schemas) { return {{"anyOf", std::move(schemas)}}; }

ordered_json closed_object(ordered_json properties, ordered_json required = ordered_json::array()) {
  ordered_json result = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) result["required"] = std::move(required);
  return result;
}

ordered_json standardize_schema() {
  const ordered_json number = {{"type", "number"}};
  const ordered_json positive = {{"type", "number"}, {"minimum", 0}, {"exclusiveMinimum", true}};
  return either(
      {{{"enum", {"none", "features"}}}, closed_object({{"mean", number}, {"scale", positive}}, {"mean", "scale"})});
}

ordered_json integer_schema(const Key& key) {
  ordered_json range = {{"type", "integer"}, {"minimum", key.minimum}};
  if (key.maximum != INT64_MAX) range["maximum"] = key.maximum;
  if (!key.has(kZeroAllowed)) return range;
  return either({{{"enum", {0}}}, std::move(range)});
}

ordered_json key_schema(const Key& key) {
  switch (key.type) {
    case Type::text:
      return text_schema();
    case Type::name:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"}};
    case Type::choice:
      return {{"enum", choices_of(key.choices)}};
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::integer:
      return integer_schema(key);
    case Type::share:
      return {
          {"type", "number"}, {"minimum", 0}, {"exclusiveMinimum", true}, {"maximum", 1}, {"exclusiveMaximum", true}};
    case Type::texts: {
      ordered_json list = list_of(text_schema());
      if (key.has(kEmptyAllowed)) list.erase("minItems");
      return list;
    }
    case Type::directories:
      return list_of({{"type", "string"}, {"pattern", "^/"}});
    case Type::seed:
      return either({{{"type", "integer"}, {"minimum", 0}}, {{"type", "string"}, {"pattern", "^[0-9]+$"}}});
    case Type::size:
      return either({{{"type", "integer"}, {"minimum", key.minimum}}, text_schema()});
    case Type::selection:
      return either({text_schema(), list_of(text_schema())});
    case Type::standardize:
      return standardize_schema();
    case Type::table:
    case Type::options:
    case Type::params:
      break;
  }
  return {{"type", "object"}};
}

// Everything but what the model defines.
ordered_json table_schema(const std::string& table) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const Key& key : keys()) {
    if (table != key.table) continue;
    ordered_json one = key.type == Type::table ? table_schema(dotted(table, key.name)) : key_schema(key);
    one["description"] = key.doc;
    properties[key.name] = std::move(one);
    if (key.has(kRequired)) required.push_back(key.name);
  }
  return closed_object(std::move(properties), std::move(required));
}

bool is_number(const mk_param& param) { return param.type == MK_PARAM_REAL || param.type == MK_PARAM_INTEGER; }

ordered_json value_schema(const mk_param& param) {
  if (param.type == MK_PARAM_BOOL) return {{"type", "boolean"}};
  if (param.type == MK_PARAM_TEXT) {
    const std::vector<std::string> choices = choices_of(param.choices);
    return choices.empty() ? ordered_json{{"type", "string"}} : ordered_json{{"enum", choices}};
  }
  ordered_json result = {{"type", param.type == MK_PARAM_REAL ? "number" : "integer"}};
  if (std::isfinite(param.minimum)) result["minimum"] = param.minimum;
  if (std::isfinite(param.minimum) && (param.flags & MK_PARAM_EXCLUSIVE_MIN) != 0) result["exclusiveMinimum"] = true;
  if (std::isfinite(param.maximum)) result["maximum"] = param.maximum;
  return result;
}

// The table forms of a searched number.
void add_shapes(const mk_param& param, ordered_json& forms) {
  const bool integer = param.type == MK_PARAM_INTEGER;
  for (const Shape& shape : shapes()) {
    const bool draws_integers = shape.kind == search::Space::Kind::integer_uniform;
    if (shape.distribution && draws_integers != integer) continue;
    const ordered_json ends = {{"type", "array"},
                               {"items", {{"type", draws_integers ? "integer" : "number"}}},
                               {"minItems", 2},
                               {"maxItems", 2},
                               {"description", shape.doc}};
    const ordered_json count = {
        {"type", "integer"}, {"minimum", 2}, {"maximum", kMaxListLength}, {"description", "number of values"}};
    forms.push_back(shape.distribution ? closed_object({{shape.name, ends}}, {shape.name})
                                       : closed_object({{shape.name, ends}, {"n", count}}, {shape.name, "n"}));
  }
}

std::string doc_of(const mk_param& param) {
  std::string doc = param.doc == nullptr ? "" : param.doc;
  if (is_number(param)) doc += (doc.empty() ? "" : "; ") + range_of(param);
  if (param.fallback != nullptr && *param.fallback != '\0')
    doc += std::string(doc.empty() ? "" : "; ") + "default " + param.fallback;
  return doc;
}

// A value of [model_options]: itself or "$name".
ordered_json field_schema(const mk_param& param) {
  ordered_json one = param.type == MK_PARAM_TEXT && choices_of(param.choices).empty()
                         ? value_schema(param)
                         : either({value_schema(param), {{"type", "string"}, {"pattern", "^\\$"}}});
  one["description"] = doc_of(param);
  return one;
}

ordered_json form_schema(const mk_form& form) {
  ordered_json properties = {{"type", {{"enum", {form.name}}}}};
  ordered_json required = {"type"};
  for (uint32_t p = 0; p < form.n_params; ++p) {
    const mk_param& param = form.params[p];
    properties[param.name] = field_schema(param);
    if (param.fallback == nullptr || *param.fallback == '\0') required.push_back(param.name);
  }
  ordered_json result = closed_object(std::move(properties), std::move(required));
  if (form.doc != nullptr) result["description"] = form.doc;
  return result;
}

ordered_json forms_schema(const mk_param& param) {
  ordered_json forms = ordered_json::array();
  for (uint32_t f = 0; f < param.n_forms; ++f) forms.push_back(form_schema(param.forms[f]));
  ordered_json result = either(std::move(forms));
  if (param.type == MK_PARAM_FORMS) result = {{"type", "array"}, {"items", std::move(result)}};
  result["description"] = doc_of(param);
  return result;
}

ordered_json options_schema(const ModelSchema& model) {
  ordered_json properties = ordered_json::object();
  for (uint32_t p = 0; p < model.n_params; ++p) {
    const mk_param& param = model.params[p];
    properties[param.name] = is_form(param) ? forms_schema(param) : field_schema(param);
  }
  return closed_object(std::move(properties));
}

// Names that the model does not know stand for what "$name" in [model_options] says: any values.
ordered_json params_schema(const ModelSchema& model) {
  ordered_json properties = ordered_json::object();
  for (uint32_t p = 0; p < model.n_params; ++p) {
    const mk_param& param = model.params[p];
    if (is_form(param)) continue;
    ordered_json forms = ordered_json::array({value_schema(param), list_of(value_schema(param))});
    if (is_number(param)) add_shapes(param, forms);
    properties[param.name] = {{"anyOf", std::move(forms)}, {"description", doc_of(param)}};
  }
  ordered_json result = closed_object(std::move(properties));
  result["additionalProperties"] = {{"type", {"number", "string", "boolean", "array", "object"}}};
  return result;
}

}  // namespace

std::string json_schema(const std::map<std::string, ModelSchema>& models) {
  ordered_json result = {{"$schema", "http://json-schema.org/draft-04/schema#"},
                         {"title", "mokume experiment"},
                         {"description", "One experiment: a model, its data, and the candidates to compare"}};
  result.update(table_schema(""));
  // One branch per model: which model it is decides what [model_options] and [search.params] take.
  ordered_json branches = ordered_json::array();
  ordered_json names = ordered_json::array();
  for (const auto& [name, schema] : models) {
    names.push_back(name);
    ordered_json properties = {{"model", {{"enum", {name}}}},
                               {"model_options", options_schema(schema)},
                               {"search", {{"properties", {{"params", params_schema(schema)}}}}}};
    branches.push_back({{"properties", std::move(properties)}});
  }
  if (!branches.empty()) {
    result["properties"]["model"]["enum"] = std::move(names);
    result["anyOf"] = std::move(branches);
  }
  return result.dump(2) + "\n";
}

}  // namespace mokume::config
