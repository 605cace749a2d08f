#include "config/tagged_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/diagnostics.hpp"
#include "config/other_names.hpp"
#include "config/resolved.hpp"
#include "config/value.hpp"
#include "sdk/error.hpp"

namespace mokume::config {
namespace {

using search::Value;

constexpr const char* kType = "type";

Value zero_of(Type type) {
  switch (type) {
    case Type::integer:
      return int64_t{0};
    case Type::text:
    case Type::selection:
      return std::string();
    case Type::boolean:
      return false;
    default:
      return 0.0;
  }
}

// Returns text like "out_channels is an integer from 1 to 1000000: filters".
std::string field_text(const Parameter& parameter) {
  const std::string range =
      parameter.is_number() && range_text(parameter) != "finite" ? " " + range_text(parameter) : "";
  const std::string choices = parameter.choices.empty() ? "" : ", one of " + join(parameter.choices);
  return fmt::format("{} is {}{}{}: {}", parameter.name, wanted(parameter.type), range, choices, parameter.doc);
}

class TableReader {
 public:
  // `name` is the table's name in messages, like "optimizer" or "layers[2]".
  TableReader(const Parameter& parameter, std::string name, const Node& node, std::vector<Reference>& references,
              Diagnostics& diagnostics)
      : parameter_(parameter),
        name_(std::move(name)),
        node_(node),
        references_(references),
        diagnostics_(diagnostics) {}

  std::optional<TaggedTable> read() {
    const size_t before = diagnostics_.size();
    const Tag* tag = find_tag();
    if (tag == nullptr) return std::nullopt;
    title_ = fmt::format("{} ({})", name_, tag->name);
    report_unknown(*tag);
    TaggedTable result{tag->name, {}};
    for (const Parameter& parameter : tag->parameters)
      if (auto field = field_of(parameter)) result.fields.push_back(std::move(*field));
    return diagnostics_.size() == before ? std::optional(result) : std::nullopt;
  }

 private:
  const Tag* fail(const Location& location, const std::string& message, const std::string& hint = "") {
    diagnostics_.add(location, message, hint, fmt::format("{} is one of: {}", kType, join(names_of(parameter_.tags))));
    return nullptr;
  }

  const Tag* find_tag() {
    if (node_.kind != Node::Kind::table) return not_a_table();
    const Entry* type = node_.find(kType);
    if (type == nullptr) return without_type();
    const Node& value = type->value;
    if (value.kind != Node::Kind::text)
      return fail(value.location, fmt::format("the type of {} must be a string, not {}", name_, describe(value.kind)));
    if (value.text.starts_with('$'))
      return fail(value.location, fmt::format("the type of {} cannot be searched", name_));
    for (const Tag& tag : parameter_.tags)
      if (value.text == tag.name) return &tag;
    return fail(value.location, fmt::format("unknown type {} of {}", in_quotes(value.text), name_),
                suggest(value.text, names_of(parameter_.tags)));
  }

  const Tag* not_a_table() {
    const std::vector<std::string> types = names_of(parameter_.tags);
    const bool bare =
        node_.kind == Node::Kind::text && std::find(types.begin(), types.end(), node_.text) != types.end();
    diagnostics_.add(node_.location,
                     fmt::format("{} must be {}, not {}", name_, wanted(Type::tagged_table), describe(node_.kind)),
                     bare ? fmt::format("write {{ type = \"{}\" }}", node_.text) : "");
    return nullptr;
  }

  const Tag* without_type() {
    for (const Entry& entry : node_.entries)
      if (const std::string hint = suggest(entry.key, {kType}); !hint.empty())
        return fail(entry.location, fmt::format("unknown key {} in {}", in_quotes(entry.key), name_), hint);
    return fail(node_.location, fmt::format("{} needs '{}'", name_, kType), "add type = \"...\"");
  }

  // Reports unknown keys. field_of() does not report the keys that they probably mean as missing.
  void report_unknown(const Tag& tag) {
    std::vector<std::string> known = {kType};
    for (const Parameter& one : tag.parameters)
      if (!one.has(kWritten)) known.push_back(one.name);
    const auto is_known = [&](const std::string& key) {
      return key == kType || std::any_of(tag.parameters.begin(), tag.parameters.end(),
                                         [&](const Parameter& one) { return one.name == key; });
    };
    for (const Entry& entry : node_.entries) {
      if (is_known(entry.key)) continue;
      const std::string best = closest(entry.key, known);
      if (!best.empty()) {
        meant_.insert(best);
      } else if (entry.key.size() <= 3) {  // a short key may mean any key
        meant_.insert(known.begin(), known.end());
      }
      diagnostics_.add(entry.location, fmt::format("unknown key {} in {}", in_quotes(entry.key), title_),
                       best.empty() ? instead_of_key(entry.key) : suggest(entry.key, known),
                       fmt::format("{} takes: {}", tag.name, join(known)));
    }
  }

  std::optional<Field> field_of(const Parameter& parameter) {
    const bool younger = parameter.has(kPlanIfSet);
    if (const Entry* entry = node_.find(parameter.name)) {
      auto field = read_field(parameter, entry->value, references_, diagnostics_);
      const bool left_out = younger && field && field->reference.empty() && field->value == default_value(parameter);
      return left_out ? std::nullopt : field;
    }
    if (younger && !parameter.fallback.empty()) return std::nullopt;
    if (auto value = default_value(parameter)) return Field{parameter.name, std::move(*value), ""};
    if (meant_.count(parameter.name) == 0)
      diagnostics_.add(node_.location, fmt::format("{} needs '{}'", title_, parameter.name),
                       fmt::format("add {} = ...", parameter.name), field_text(parameter));
    return std::nullopt;
  }

  const Parameter& parameter_;
  std::string name_;
  std::string title_;
  const Node& node_;
  std::vector<Reference>& references_;
  Diagnostics& diagnostics_;
  std::set<std::string> meant_;
};

}  // namespace

std::optional<Field> read_field(const Parameter& parameter, const Node& node, std::vector<Reference>& references,
                                Diagnostics& diagnostics) {
  if (node.kind == Node::Kind::text && node.text.starts_with('$')) {
    references.push_back({node.text.substr(1), &parameter, node.location});
    return Field{parameter.name, zero_of(parameter.type), node.text.substr(1)};
  }
  auto value = read_value(parameter, node, diagnostics);
  if (!value) return std::nullopt;
  return Field{parameter.name, std::move(*value), ""};
}

namespace {

// Adds diagnostics if there are too few alternatives, or two of one type.
void check_alternatives(const Parameter& parameter, const Node& node, const TaggedTables& read,
                        Diagnostics& diagnostics) {
  if (node.items.size() < 2)
    diagnostics.add(node.location, fmt::format("{} lists fewer than two alternatives", parameter.name),
                    "write one table, or list several for a search");
  if (read.tables.size() != node.items.size()) return;
  std::set<std::string> types;
  for (size_t i = 0; i < read.tables.size(); ++i)
    if (!types.insert(read.tables[i].type).second)
      diagnostics.add(node.items[i].location,
                      fmt::format("{} lists two alternatives of type \"{}\"", parameter.name, read.tables[i].type),
                      "keep one, and search its keys with \"$name\"");
}

}  // namespace

std::optional<TaggedTables> read_tagged(const Parameter& parameter, const Node& node,
                                        std::vector<Reference>& references, Diagnostics& diagnostics) {
  TaggedTables result;
  result.list = parameter.type == Type::tagged_tables;
  const size_t before = diagnostics.size();
  const auto read = [&](const std::string& name, const Node& from) {
    if (auto table = TableReader(parameter, name, from, references, diagnostics).read())
      result.tables.push_back(std::move(*table));
  };
  if (!result.list && node.kind == Node::Kind::array) {
    result.chosen_by = parameter.name;
    for (size_t i = 0; i < node.items.size(); ++i) read(fmt::format("{}[{}]", parameter.name, i), node.items[i]);
    check_alternatives(parameter, node, result, diagnostics);
  } else if (!result.list) {
    read(parameter.name, node);
  } else if (node.kind != Node::Kind::array) {
    diagnostics.add(node.location,
                    fmt::format("{} must be {}, not {}", parameter.name, wanted(parameter.type), describe(node.kind)),
                    fmt::format("write [[model_options.{}]]", parameter.name));
  } else {
    for (size_t i = 0; i < node.items.size(); ++i) read(fmt::format("{}[{}]", parameter.name, i), node.items[i]);
  }
  return diagnostics.size() == before ? std::optional(result) : std::nullopt;
}

std::optional<TaggedTables> default_tagged(const Parameter& parameter) {
  const auto node = default_node(parameter);
  if (!node) return std::nullopt;
  Diagnostics diagnostics("the default");
  std::vector<Reference> references;
  auto result = read_tagged(parameter, *node, references, diagnostics);
  if (!result || !references.empty()) throw_bad_default(parameter, std::move(diagnostics));
  return result;
}

Value resolve(const Field& field, const std::vector<std::string>& params, const std::vector<Value>& candidate) {
  if (field.reference.empty()) return field.value;
  const auto found = std::find(params.begin(), params.end(), field.reference);
  if (found == params.end()) throw Error(MK_INTERNAL, "'" + field.reference + "' is not searched");
  const Value& value = candidate[static_cast<size_t>(found - params.begin())];
  const auto* whole = std::get_if<int64_t>(&value);
  if (whole != nullptr && std::holds_alternative<double>(field.value)) return static_cast<double>(*whole);
  return value;
}

std::string json_text(const TaggedTables& tagged, const std::vector<std::string>& params,
                      const std::vector<Value>& candidate) {
  const auto json_of_candidate = [&](const TaggedTable& table) {
    Json one = {{"type", table.type}};
    for (const Field& field : table.fields) one[field.key] = json_of(resolve(field, params, candidate));
    return one;
  };
  if (tagged.list) {
    Json list = Json::array();
    for (const TaggedTable& table : tagged.tables) list.push_back(json_of_candidate(table));
    return list.dump();
  }
  if (tagged.chosen_by.empty()) return json_of_candidate(tagged.tables.front()).dump();
  const std::string type = std::get<std::string>(resolve({"", std::string(), tagged.chosen_by}, params, candidate));
  for (const TaggedTable& table : tagged.tables)
    if (table.type == type) return json_of_candidate(table).dump();
  throw Error(MK_INTERNAL, "'" + tagged.chosen_by + "' has no alternative '" + type + "'");
}

}  // namespace mokume::config
