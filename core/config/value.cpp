#include "config/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "config/diagnostics.hpp"
#include "config/other_names.hpp"
#include "config/resolved.hpp"
#include "sdk/error.hpp"

namespace mokume::config {
namespace {

using search::Value;

constexpr size_t kMaxName = 128;
constexpr const char* kStandardize = "it is \"none\", \"features\" or { mean = 127.5, scale = 73.61 }";

bool is_decimal(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class ValueReader {
 public:
  ValueReader(const Parameter& parameter, const Node& node, Diagnostics& diagnostics)
      : parameter_(parameter), path_(parameter.path()), node_(node), diagnostics_(diagnostics) {}

  std::optional<Value> value() {
    switch (parameter_.type) {
      case Type::boolean:
        if (node_.kind != Node::Kind::boolean) return wrong_type();
        return node_.boolean;
      case Type::text:
        return text();
      case Type::name:
        return name();
      case Type::seed:
        return seed();
      case Type::size:
        return size();
      case Type::selection:
        return selection();
      default:
        return number();
    }
  }

  Json texts() {
    if (node_.kind != Node::Kind::array) return wrong_type(), nullptr;
    Json result = Json::array();
    std::set<std::string> seen;
    const size_t before = diagnostics_.size();
    for (const Node& item : node_.items) {
      const auto word = text(item);
      if (!word) continue;
      if (!seen.insert(*word).second) fail(item, "lists " + in_quotes(*word) + " twice");
      if (parameter_.type == Type::directories && word->front() != '/') fail(item, "takes absolute paths only");
      result.push_back(*word);
    }
    if (node_.items.empty() && !parameter_.has(kEmptyAllowed)) fail(node_, "must not be empty");
    return diagnostics_.size() == before ? result : nullptr;
  }

  // Reads a choice, or a table with the parameters of the tag.
  Json standardize() {
    if (node_.kind != Node::Kind::table && node_.kind != Node::Kind::text) return wrong_type(kStandardize), nullptr;
    if (node_.kind == Node::Kind::text) {
      const auto word = choice(node_, kStandardize);
      return word ? Json(*word) : nullptr;
    }
    const std::vector<Parameter>& parts = parameter_.tags.front().parameters;
    const size_t before = diagnostics_.size();
    Json result = Json::object();
    for (const Entry& entry : node_.entries) {
      if (const Parameter* part = find(parts, entry.key)) {
        result[entry.key] = read_setting(*part, entry.value, diagnostics_);
      } else {
        diagnostics_.add(entry.location, fmt::format("unknown key {} in {}", in_quotes(entry.key), path_),
                         suggest(entry.key, names_of(parts)), kStandardize);
      }
    }
    // A misspelt key is not also reported as missing.
    for (const Parameter& part : parts)
      if (diagnostics_.size() == before && !result.contains(part.name))
        fail(node_, "needs " + in_quotes(part.name), "", kStandardize);
    return diagnostics_.size() == before ? result : nullptr;
  }

 private:
  // Returns std::nullopt, which converts to any result type.
  std::nullopt_t fail(const Node& at, const std::string& what, const std::string& hint = "",
                      const std::string& note = "") {
    diagnostics_.add(at.location, path_ + " " + what, hint, note);
    return std::nullopt;
  }
  std::nullopt_t wrong_type(const std::string& note = "") {
    const std::string hint = node_.kind == Node::Kind::text ? instead_of_value(parameter_.name, node_.text) : "";
    return fail(node_, fmt::format("must be {}, not {}", wanted(parameter_.type), describe(node_.kind)), hint, note);
  }
  std::optional<std::string> choice(const Node& node, const std::string& note) {
    const std::vector<std::string>& choices = parameter_.choices;
    if (std::find(choices.begin(), choices.end(), node.text) != choices.end()) return node.text;
    std::string hint = suggest(node.text, choices);
    if (hint.empty()) hint = instead_of_value(parameter_.name, node.text);
    diagnostics_.add(node.location, fmt::format("unknown {} {}", path_, in_quotes(node.text)), hint, note);
    return std::nullopt;
  }

  std::optional<std::string> text() {
    if (node_.kind != Node::Kind::text) return wrong_type();
    return parameter_.has(kOfModel) && parameter_.choices.empty() ? node_.text : text(node_);
  }

  std::optional<std::string> text(const Node& node) {
    if (parameter_.choices.empty() || node.kind != Node::Kind::text) return plain_text(node);
    return choice(node, fmt::format("{} is one of: {}", path_, join(parameter_.choices)));
  }

  // Reads a text that is not empty and has no control characters other than tabs.
  std::optional<std::string> plain_text(const Node& node) {
    if (node.kind != Node::Kind::text) return fail(node, fmt::format("must be a string, not {}", describe(node.kind)));
    if (node.text.empty()) return fail(node, "must not be empty");
    const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; };
    if (std::any_of(node.text.begin(), node.text.end(), is_control))
      return fail(node, "must not contain control characters");
    return node.text;
  }

  // The name becomes a directory, so it must not contain anything special to a shell, a file system or a web page.
  std::optional<std::string> name() {
    auto name = plain_text(node_);
    if (!name) return std::nullopt;
    if (!std::all_of(name->begin(), name->end(), [](char c) { return is_plain(c) || c == '.'; }))
      return fail(node_, "may contain only letters, digits, '.', '_' and '-'");
    if (name->front() == '.') return fail(node_, "must not begin with '.'");
    if (name->size() > kMaxName) return fail(node_, fmt::format("must not be longer than {} characters", kMaxName));
    return name;
  }

  std::optional<Value> number() {
    constexpr size_t kDigits = std::numeric_limits<int64_t>::digits10;
    const bool integer = parameter_.type == Type::integer;
    if (integer && node_.kind == Node::Kind::text && node_.text.size() > kDigits && is_decimal(node_.text))
      return fail(node_, "must be an integer of 64 bits");
    if (integer ? node_.kind != Node::Kind::integer : !node_.is_number()) return wrong_type();
    const double number = node_.number();
    if (!std::isfinite(number)) return fail(node_, "must be finite, not " + base::shortest(number));
    if (!parameter_.holds(number)) {
      const std::string shown = integer ? std::to_string(node_.integer) : base::shortest(number);
      diagnostics_.add(node_.location, out_of_range(parameter_, shown));
      return std::nullopt;
    }
    if (integer) return node_.integer;
    return number;
  }

  std::optional<std::string> selection() {
    if (node_.kind == Node::Kind::text && node_.text.empty() && parameter_.has(kEmptyAllowed)) return "";
    if (node_.kind == Node::Kind::text) return plain_text(node_);
    const Json words = texts();
    if (words.is_null()) return std::nullopt;
    return fmt::format("{}", fmt::join(words.get<std::vector<std::string>>(), ","));
  }

  std::optional<std::string> seed() {
    if (node_.kind == Node::Kind::integer) {
      if (node_.integer < 0) return fail(node_, fmt::format("must not be negative, but is {}", node_.integer));
      return std::to_string(node_.integer);
    }
    if (node_.kind != Node::Kind::text) return wrong_type();
    if (!is_decimal(node_.text)) return fail(node_, "must be an integer or a string of decimal digits");
    return node_.text;
  }

  std::optional<int64_t> size() {
    std::optional<uint64_t> bytes;
    if (node_.kind == Node::Kind::integer) {
      bytes = static_cast<uint64_t>(std::max<int64_t>(node_.integer, 0));
    } else if (node_.kind != Node::Kind::text) {
      return wrong_type();
    } else if (bytes = base::parse_bytes(node_.text); !bytes) {
      return fail(node_, "is not a size", "write it in bytes or as \"4 GiB\" or \"512 MiB\"");
    }
    if (*bytes == 0 || *bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return fail(node_, "must be from 1 byte to 8 EiB");
    return static_cast<int64_t>(*bytes);
  }

  const Parameter& parameter_;
  std::string path_;
  const Node& node_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Value> read_value(const Parameter& parameter, const Node& node, Diagnostics& diagnostics) {
  return ValueReader(parameter, node, diagnostics).value();
}

Json read_setting(const Parameter& key, const Node& node, Diagnostics& diagnostics) {
  ValueReader reader(key, node, diagnostics);
  if (key.type == Type::texts || key.type == Type::directories) return reader.texts();
  if (key.type == Type::standardize) return reader.standardize();
  const auto value = reader.value();
  return value ? json_of(*value) : Json();
}

void throw_bad_default(const Parameter& parameter, Diagnostics diagnostics) {
  const auto all = diagnostics.take();
  throw Error(MK_DEVICE_ERROR, fmt::format("the model's default of '{}' is not valid: {}", parameter.name,
                                           all.empty() ? "not a single value" : all.front().message));
}

std::optional<Node> default_node(const Parameter& parameter) {
  if (parameter.fallback.empty()) return std::nullopt;
  Diagnostics diagnostics("the default");
  auto tree = read_tree("x = " + parameter.fallback, 0, diagnostics);
  if (!tree || tree->entries.size() != 1) throw_bad_default(parameter, std::move(diagnostics));
  return std::move(tree->entries[0].value);
}

std::optional<Value> default_value(const Parameter& parameter) {
  const auto node = default_node(parameter);
  if (!node) return std::nullopt;
  Diagnostics diagnostics("the default");
  auto value = read_value(parameter, *node, diagnostics);
  if (!value) throw_bad_default(parameter, std::move(diagnostics));
  return value;
}

}  // namespace mokume::config
