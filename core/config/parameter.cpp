#include "config/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace mokume::config {
namespace {

// The order is that of mk_param_type.
constexpr std::array kTypes = {Type::real,    Type::integer,      Type::text,
                               Type::boolean, Type::tagged_table, Type::tagged_tables};

// Messages name the required types with these words. The order is that of Type.
constexpr std::array kWanted = {"a number",
                                "an integer",
                                "a string",
                                "true or false",
                                "a table with a type",
                                "a list of tables",
                                "a string",
                                "an integer or a string of decimal digits",
                                "an integer or a string such as \"4 GiB\"",
                                "a string or a list of strings",
                                "a list of strings",
                                "a list of strings",
                                "a string or a table",
                                "a table",
                                "a table",
                                "a table"};

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

Parameter parameter_of(const mk_param& param, Expand expand) {
  Parameter result;
  result.name = param.name;
  result.type = kTypes.at(static_cast<size_t>(param.type - 1));
  result.doc = text_of(param.doc);
  const bool list = (param.flags & MK_PARAM_LIST) != 0;
  if (list) result.type = Type::selection;
  result.flags = kOfModel | (list ? kEmptyAllowed : 0) | ((param.flags & MK_PARAM_YOUNGER) != 0 ? kPlanIfSet : 0) |
                 ((param.flags & MK_PARAM_COMMON) != 0 ? kCommon : 0) |
                 ((param.flags & MK_PARAM_WRITTEN) != 0 ? kWritten : 0);
  if ((param.flags & MK_PARAM_EXPANDED) != 0) result.expand = expand;
  result.range = {param.minimum, param.maximum, (param.flags & MK_PARAM_EXCLUSIVE_MIN) != 0, false};
  if (const std::string choices = text_of(param.choices); !choices.empty()) result.choices = base::split(choices, '|');
  result.fallback = text_of(param.fallback);
  if (param.before > 0 && param.before <= result.choices.size())
    result.before = Json(result.choices[param.before - 1]).dump();
  for (const mk_form& form : std::span(param.forms, param.n_forms))
    result.tags.push_back({form.name, text_of(form.doc), model_schema({form.params, form.n_params}),
                           (form.flags & MK_FORM_EXPANDED) != 0});
  return result;
}

template <class T>
std::vector<std::string> all_names(const std::vector<T>& named) {
  std::vector<std::string> names;
  names.reserve(named.size());
  for (const T& one : named) names.push_back(one.name);
  return names;
}

}  // namespace

std::string Parameter::path() const { return dotted(table, name); }

bool Parameter::holds(double value) const {
  if (value == 0 && has(kZeroAllowed)) return true;
  return (range.without_low ? value > range.low : value >= range.low) &&
         (range.without_high ? value < range.high : value <= range.high);
}

ModelSchema model_schema(std::span<const mk_param> params, Expand expand) {
  ModelSchema schema;
  schema.reserve(params.size());
  for (const mk_param& param : params) schema.push_back(parameter_of(param, expand));
  return schema;
}

ModelSchema model_schema(const mk_model& model) { return model_schema({model.params, model.n_params}, model.expand); }

const Parameter* find(const ModelSchema& schema, std::string_view name) {
  const auto found = std::find_if(schema.begin(), schema.end(), [&](const Parameter& p) { return p.name == name; });
  return found == schema.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) { return all_names(parameters); }
std::vector<std::string> names_of(const std::vector<Tag>& tags) { return all_names(tags); }

const char* wanted(Type type) { return kWanted.at(static_cast<size_t>(type)); }

std::string number_text(const Parameter& parameter, double value) {
  const bool whole = parameter.type == Type::integer && std::abs(value) < 0x1p63;
  return whole ? std::to_string(static_cast<int64_t>(value)) : base::shortest(value);
}

std::string range_text(const Parameter& parameter) {
  const Range& range = parameter.range;
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  const std::string first = number_text(parameter, range.low), last = number_text(parameter, range.high);
  if (parameter.type == Type::integer && low && high && !range.without_low)
    return fmt::format("from {} to {}", first, last);
  const std::string from = low ? (range.without_low ? "above " : "at least ") + first : "";
  const std::string to = high ? (range.without_high ? "below " : "at most ") + last : "";
  if (!low && !high) return "finite";
  return from + (low && high ? " and " : "") + to;
}

std::string out_of_range(const Parameter& parameter, const std::string& number) {
  return fmt::format("{} must be {}, not {}", parameter.path(), range_text(parameter), number);
}

std::string dotted(std::string_view table, std::string_view name) {
  return table.empty() ? std::string(name) : fmt::format("{}.{}", table, name);
}

}  // namespace mokume::config
