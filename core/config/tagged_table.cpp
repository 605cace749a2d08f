#include "config/tagged_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "config/value.hpp"
#include "sdk/error.hpp"

namespace mokume::config {
namespace {

using search::Value;

constexpr const char* kType = "type";

Value zero_of(const mk_param& param) {
  switch (param.type) {
    case MK_PARAM_INTEGER:
      return int64_t{0};
    case MK_PARAM_TEXT:
      return std::string();
    case MK_PARAM_BOOL:
      return false;
    default:
      return 0.0;
  }
}

// Reads one table of a form.
class FormReader {
 public:
  // `place` as a message says it: "optimizer", "layers[2]".
  FormReader(const mk_param& param, std::string place, const Node& node, std::vector<Use>& uses, Findings& findings)
      : param_(param), place_(std::move(place)), node_(node), uses_(uses), findings_(findings) {}

  std::optional<Form> read() {
    const size_t before = findings_.size();
    const mk_form* form = find_form();
    if (form == nullptr) return std::nullopt;
    report_unknown(*form);
    Form result{form->name, {}};
    for (uint32_t p = 0; p < form->n_params; ++p)
      if (auto field = field_of(*form, form->params[p])) result.fields.push_back(std::move(*field));
    return findings_.size() == before ? std::optional(result) : std::nullopt;
  }

 private:
  std::vector<std::string> types() const {
    std::vector<std::string> names;
    for (uint32_t f = 0; f < param_.n_forms; ++f) names.emplace_back(param_.forms[f].name);
    return names;
  }

  const mk_form* fail(const Place& place, const std::string& message, const std::string& hint) {
    findings_.add(place, message, hint, fmt::format("{} is one of: {}", kType, join(types())));
    return nullptr;
  }

  const mk_form* find_form() {
    const Entry* type = node_.find(kType);
    if (type == nullptr) return without_type();
    if (type->value.kind != Node::Kind::text)
      return fail(type->value.place,
                  fmt::format("the type of {} must be a text, not {}", place_, describe(type->value.kind)), "");
    if (type->value.text.starts_with('$'))
      return fail(type->value.place, fmt::format("the type of {} cannot be searched", place_), "");
    for (uint32_t f = 0; f < param_.n_forms; ++f)
      if (type->value.text == param_.forms[f].name) return &param_.forms[f];
    return fail(type->value.place, fmt::format("unknown type {} of {}", config::quoted(type->value.text), place_),
                suggest(type->value.text, types()));
  }

  const mk_form* without_type() {
    for (const Entry& entry : node_.entries)
      if (const std::string hint = suggest(entry.key, {kType}); !hint.empty())
        return fail(entry.place, fmt::format("unknown key {} in {}", config::quoted(entry.key), place_), hint);
    return fail(node_.place, fmt::format("{} needs '{}'", place_, kType), "add type = \"...\"");
  }

  static std::vector<std::string> names_of(const mk_form& form) {
    std::vector<std::string> names = {kType};
    for (uint32_t p = 0; p < form.n_params; ++p) names.emplace_back(form.params[p].name);
    return names;
  }

  std::string title(const mk_form& form) const { return fmt::format("{} ({})", place_, form.name); }

  // What an unknown key probably means is not reported as missing.
  void report_unknown(const mk_form& form) {
    const std::vector<std::string> known = names_of(form);
    for (const Entry& entry : node_.entries) {
      if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
      const std::string hint = suggest(entry.key, known);
      for (const std::string& name : known)
        if (hint.empty() ? entry.key.size() <= 3 : hint == suggest(name, {name})) meant_.insert(name);
      findings_.add(entry.place, fmt::format("unknown key {} in {}", config::quoted(entry.key), title(form)), hint,
                    fmt::format("{} takes: {}", form.name, join(known)));
    }
  }

  std::optional<Field> field_of(const mk_form& form, const mk_param& param) {
    if (const Entry* entry = node_.find(param.name)) return read_field(param, entry->value, uses_, findings_);
    if (auto value = default_value(param)) return Field{param.name, std::move(*value), ""};
    if (meant_.count(param.name) == 0)
      findings_.add(node_.place, fmt::format("{} needs '{}'", title(form), param.name),
                    fmt::format("add {} = ...", param.name), param.doc == nullptr ? "" : param.doc);
    return std::nullopt;
  }

  const mk_param& param_;
  std::string place_;
  const Node& node_;
  std::vector<Use>& uses_;
  Findings& findings_;
  std::set<std::string> meant_;
};

bool is_table(const mk_param& param, const std::string& place, const Node& node, Findings& findings) {
  if (node.kind == Node::Kind::table) return true;
  std::string hint;
  for (uint32_t f = 0; node.kind == Node::Kind::text && f < param.n_forms; ++f)
    if (node.text == param.forms[f].name) hint = fmt::format("write {{ type = \"{}\" }}", param.forms[f].name);
  findings.add(node.place, fmt::format("{} must be a table with a type, not {}", place, describe(node.kind)), hint);
  return false;
}

std::string json_value(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return nlohmann::json(*text).dump();
  return search::to_text(value);
}

}  // namespace

std::optional<Field> read_field(const mk_param& param, const Node& node, std::vector<Use>& uses, Findings& findings) {
  if (node.kind == Node::Kind::text && node.text.starts_with('$')) {
    uses.push_back({node.text.substr(1), &param, node.place});
    return Field{param.name, zero_of(param), node.text.substr(1)};
  }
  auto value = read_value(param, node, findings);
  if (!value) return std::nullopt;
  return Field{param.name, std::move(*value), ""};
}

std::optional<Forms> read_forms(const mk_param& param, const Node& node, std::vector<Use>& uses, Findings& findings) {
  Forms forms;
  forms.list = param.type == MK_PARAM_FORMS;
  if (!forms.list) {
    if (!is_table(param, param.name, node, findings)) return std::nullopt;
    auto form = FormReader(param, param.name, node, uses, findings).read();
    if (!form) return std::nullopt;
    forms.items.push_back(std::move(*form));
    return forms;
  }
  if (node.kind != Node::Kind::array) {
    findings.add(node.place, fmt::format("{} must be a list of tables, not {}", param.name, describe(node.kind)),
                 fmt::format("write [[model_options.{}]]", param.name));
    return std::nullopt;
  }
  bool good = true;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", param.name, i);
    std::optional<Form> form;
    if (is_table(param, place, node.items[i], findings))
      form = FormReader(param, place, node.items[i], uses, findings).read();
    good = form && good;
    if (form) forms.items.push_back(std::move(*form));
  }
  return good ? std::optional(forms) : std::nullopt;
}

std::optional<Forms> default_forms(const mk_param& param) {
  if (param.fallback == nullptr || *param.fallback == '\0') return std::nullopt;
  Findings findings("the default");
  std::vector<Use> uses;
  const auto tree = read_tree(std::string("x = ") + param.fallback, 0, findings);
  std::optional<Forms> forms;
  if (tree && tree->entries.size() == 1) forms = read_forms(param, tree->entries[0].value, uses, findings);
  if (!forms || !uses.empty()) {
    const auto found = findings.take();
    throw Error(MK_DEVICE_ERROR, fmt::format("the model's default of '{}' is not valid: {}", param.name,
                                             found.empty() ? "no single value" : found.front().message));
  }
  return forms;
}

search::Value resolve(const Field& field, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate) {
  if (field.reference.empty()) return field.value;
  const auto found = std::find(params.begin(), params.end(), field.reference);
  if (found == params.end()) throw Error(MK_INTERNAL, "'" + field.reference + "' is not searched");
  const Value& value = candidate[static_cast<size_t>(found - params.begin())];
  const auto* whole = std::get_if<int64_t>(&value);
  if (whole != nullptr && std::holds_alternative<double>(field.value)) return static_cast<double>(*whole);
  return value;
}

std::string json_text(const Forms& forms, const std::vector<std::string>& params,
                      const std::vector<search::Value>& candidate) {
  std::string text;
  for (const Form& form : forms.items) {
    if (!text.empty()) text += ',';
    text += "{\"type\":" + nlohmann::json(form.type).dump();
    for (const Field& field : form.fields)
      text += ',' + nlohmann::json(field.key).dump() + ':' + json_value(resolve(field, params, candidate));
    text += '}';
  }
  return forms.list ? '[' + text + ']' : text;
}

std::string real_text(double value) {
  std::string text = base::shortest(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace mokume::config
