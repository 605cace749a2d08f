#include "config/tree.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace mokume::config {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr int kMaxDots = 64;

// ---- faults that must be found before the TOML reader sees the text

struct Cursor {
  uint32_t line = 1;
  uint32_t column = 1;
};

struct Fault {
  Cursor at;
  std::string message;
  std::string hint;
};

std::optional<Fault> find_bad_byte(std::string_view text) {
  Cursor at;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (text.front() == '\0') return Fault{at, "this is no text: a NUL byte", ""};
    if (length == 0) {
      const unsigned byte = static_cast<unsigned char>(text.front());
      return Fault{at, fmt::format("this is not UTF-8: byte 0x{:02X}", byte), "save the file as UTF-8"};
    }
    at = text.front() == '\n' ? Cursor{at.line + 1, 1} : Cursor{at.line, at.column + 1};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

// Where the quoted text or comment that begins at `at` ends.
size_t skip_opaque(std::string_view text, size_t at) {
  if (text[at] == '#') return std::min(text.find('\n', at), text.size());
  const char quote = text[at];
  const std::string triple(3, quote);
  const bool multi_line = text.substr(at, 3) == triple;
  for (at += multi_line ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (multi_line ? text.substr(at, 3) == triple : (text[at] == quote || text[at] == '\n')) {
      return at + (multi_line ? 3 : 1);
    }
  }
  return text.size();
}

// A dotted key nests one table per dot, and the reader recurses over tables: thousands of dots exhaust its stack.
std::optional<Fault> find_deep_key(std::string_view text) {
  int dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#' || c == '"' || c == '\'') {
      at = skip_opaque(text, at);
      continue;
    }
    if (c == '.' && ++dots > kMaxDots) {
      const std::string_view before = text.substr(0, at);
      const auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
      const size_t begin = before.rfind('\n') + 1;  // npos + 1 == 0
      return Fault{{line, characters(before.substr(begin)) + 1}, "this key is nested too deeply", ""};
    }
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) dots = 0;
    ++at;
  }
  return std::nullopt;
}

std::optional<Fault> find_fault(std::string_view text) {
  if (text.size() > kMaxBytes)
    return Fault{{0, 0}, fmt::format("this is too long: {} bytes, the limit is 1 MiB", text.size()), ""};
  if (auto fault = find_bad_byte(text)) return fault;
  return find_deep_key(text);
}

// ---- toml++ nodes into ours

class Builder {
 public:
  Builder(std::string_view text, uint32_t set) : set_(set) {
    for (;;) {
      const size_t end = text.find('\n');
      lengths_.push_back(characters(text.substr(0, end)));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  Node build(const toml::node& from) const {
    Node node;
    node.place = place(from.source());
    if (const auto* table = from.as_table()) {
      build_table(*table, node);
    } else if (const auto* array = from.as_array()) {
      node.kind = Node::Kind::array;
      node.items.reserve(array->size());
      for (const toml::node& item : *array) node.items.push_back(build(item));
    } else {
      build_scalar(from, node);
    }
    return node;
  }

 private:
  // A region that ends on another line is underlined to the end of its first.
  Place place(const toml::source_region& region) const {
    Place result{set_, region.begin.line, region.begin.column, 1};
    if (region.end.line == region.begin.line) {
      result.length = region.end.column - region.begin.column;
    } else if (region.begin.line >= 1 && region.begin.line <= lengths_.size()) {
      const uint32_t end = lengths_[region.begin.line - 1] + 1;
      result.length = end > region.begin.column ? end - region.begin.column : 1;
    }
    return result;
  }

  void build_table(const toml::table& table, Node& node) const {
    node.entries.reserve(table.size());
    for (const auto& [key, value] : table)
      node.entries.push_back({std::string(key.str()), place(key.source()), build(value)});
    // toml++ sorts tables by key.
    std::stable_sort(node.entries.begin(), node.entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
    });
  }

  static void build_scalar(const toml::node& from, Node& node) {
    if (const auto* text = from.as_string()) {
      node.kind = Node::Kind::text;
      node.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
      node.kind = Node::Kind::integer;
      node.integer = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.kind = Node::Kind::real;
      node.real = real->get();
    } else if (const auto* boolean = from.as_boolean()) {
      node.kind = Node::Kind::boolean;
      node.boolean = boolean->get();
    } else {
      node.kind = Node::Kind::date;
    }
  }

  uint32_t set_;
  std::vector<uint32_t> lengths_;  // of each line, in characters
};

// The word that stands at `at`, for a hint.
std::string word_at(std::string_view text, Cursor at) {
  for (uint32_t line = 1; line < at.line && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (uint32_t column = 1; column < at.column && !text.empty(); ++column)
    text.remove_prefix(std::max<size_t>(utf8_length(text), 1));
  return std::string(text.substr(0, text.find_first_of(" \t\r\n,]}#=\"'")));
}

Fault syntax_fault(const toml::parse_error& error, std::string_view text) {
  Fault fault;
  fault.at = {error.source().begin.line, error.source().begin.column};
  fault.message = std::string(error.description());
  const std::string prefix = "Error while parsing ";
  if (fault.message.starts_with(prefix)) fault.message.erase(0, prefix.size());
  const auto says = [&](const char* words) { return fault.message.find(words) != std::string::npos; };
  const std::string word = word_at(text, fault.at);
  if (says("could not determine value type") && !word.empty()) {
    fault.hint = "texts stand in quotes: \"" + printable(word, 40) + "\"";
  } else if (says("not representable in 64 bits")) {
    fault.hint = "a seed may be longer: write it as a text, in quotes";
  } else if (says("could not be interpreted as a value")) {
    fault.hint = "numbers go up to 1.797e308";
  }
  fault.message = "syntax error in " + printable(fault.message, 200);
  return fault;
}

struct Reading {
  std::optional<Node> tree;
  std::optional<Fault> fault;
};

Reading read(std::string_view text, uint32_t set) {
  if (auto fault = find_fault(text)) return {std::nullopt, std::move(fault)};
  try {
    const toml::table table = toml::parse(text);
    return {Builder(text, set).build(table), std::nullopt};
  } catch (const toml::parse_error& error) {
    return {std::nullopt, syntax_fault(error, text)};
  }
}

void add_fault(const Fault& fault, uint32_t set, Findings& findings) {
  findings.add({set, fault.at.line, fault.at.column, 1}, fault.message, fault.hint);
}

// ---- --set

constexpr std::string_view kSetForm = "write it as key=value, for example data.limit=5000";

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// One part of a key: "layers" or, an element of a list, "layers[2]".
struct Part {
  std::string key;
  Place place;
  std::optional<size_t> index;
};

// The index in front of `key`, "[2]"; its length is 0 if there is none.
size_t read_index(std::string_view key, std::optional<size_t>& index) {
  constexpr size_t kMostDigits = 6;
  const size_t end = key.find_first_not_of("0123456789", 1);
  if (key.empty() || key[0] != '[' || end == std::string_view::npos || key[end] != ']') return 0;
  if (end == 1 || end > 1 + kMostDigits) return 0;
  index = std::stoul(std::string(key.substr(1, end - 1)));
  return end + 1;
}

// The parts of "a.b[2].c" with their places; empty if that is no dotted key.
std::vector<Part> split_key(std::string_view key, uint32_t set) {
  std::vector<Part> parts;
  for (size_t at = 0;;) {
    const size_t begin = at;
    while (at < key.size() && is_key_character(key[at])) ++at;
    if (at == begin) return {};
    Part part{std::string(key.substr(begin, at - begin)), {}, std::nullopt};
    at += read_index(key.substr(at), part.index);
    part.place = {set, 1, static_cast<uint32_t>(begin) + 1, static_cast<uint32_t>(at - begin)};
    parts.push_back(std::move(part));
    if (at == key.size()) return parts;
    if (key[at++] != '.') return {};
  }
}

// The argument as TOML can read it, every character where it was: "layers[2].p = 1" as "layers_2_.p = 1".
std::string without_indices(std::string argument, size_t key_length) {
  std::replace(argument.begin(), argument.begin() + static_cast<ptrdiff_t>(key_length), '[', '_');
  std::replace(argument.begin(), argument.begin() + static_cast<ptrdiff_t>(key_length), ']', '_');
  return argument;
}

// The value at the end of the one path of `depth` keys that `tree` holds; nullptr if it holds anything else: VALUE had
// more lines.
Node* only_value(Node& tree, size_t depth) {
  Node* at = &tree;
  for (size_t i = 0; i < depth; ++i) {
    if (at->kind != Node::Kind::table || at->entries.size() != 1) return nullptr;
    at = &at->entries[0].value;
  }
  return at;
}

Node bare_text(std::string_view value, uint32_t column, uint32_t set) {
  Node node;
  node.kind = Node::Kind::text;
  node.text = std::string(value);
  node.place = {set, 1, column, characters(value)};
  return node;
}

// The element of the list `at` that `part` names; nullptr after reporting that there is none.
Node* element_of(Node& at, const Part& part, const std::string& reached, Findings& findings) {
  if (at.kind == Node::Kind::array && *part.index < at.items.size()) return &at.items[*part.index];
  const bool absent = at.kind == Node::Kind::table && at.entries.empty();
  const std::string what = absent                         ? "it is not in the file"
                           : at.kind != Node::Kind::array ? fmt::format("that is {}, no list", describe(at.kind))
                           : at.items.empty()             ? "it is empty"
                                              : fmt::format("the last is {}[{}]", part.key, at.items.size() - 1);
  findings.add(part.place, fmt::format("there is no {}: {}", quoted(reached), what));
  return nullptr;
}

void merge(Node& root, const std::vector<Part>& path, Node value, Findings& findings) {
  Node* at = &root;
  std::string reached;
  for (size_t i = 0; i < path.size(); ++i) {
    const Part& part = path[i];
    if (at->kind != Node::Kind::table) {
      findings.add(part.place, fmt::format("cannot set {} inside {}: that is {}, no table", quoted(part.key),
                                           quoted(reached), describe(at->kind)));
      return;
    }
    auto found =
        std::find_if(at->entries.begin(), at->entries.end(), [&](const Entry& e) { return e.key == part.key; });
    if (found == at->entries.end()) {
      at->entries.push_back({part.key, part.place, {}});
      at->entries.back().value.place = part.place;
      found = at->entries.end() - 1;
    }
    reached += (reached.empty() ? "" : ".") + part.key;
    if (i + 1 == path.size() && !part.index) found->place = part.place;
    at = &found->value;
    if (!part.index) continue;
    reached += fmt::format("[{}]", *part.index);
    at = element_of(*at, part, reached, findings);
    if (at == nullptr) return;
  }
  *at = std::move(value);
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const char* describe(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::table:
      return "a table";
    case Node::Kind::array:
      return "a list";
    case Node::Kind::text:
      return "a text";
    case Node::Kind::integer:
      return "an integer";
    case Node::Kind::real:
      return "a real number";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::date:
      break;
  }
  return "a date or time";
}

std::optional<Node> read_tree(const std::string& text, uint32_t set, Findings& findings) {
  Reading reading = read(text, set);
  if (reading.fault) add_fault(*reading.fault, set, findings);
  return std::move(reading.tree);
}

void apply_set(Node& root, const std::string& argument, uint32_t set, Findings& findings) {
  if (const auto fault = find_fault(argument)) return add_fault(*fault, set, findings);
  const size_t equals = argument.find('=');
  std::string_view key = std::string_view(argument).substr(0, std::min(equals, argument.size()));
  while (!key.empty() && key.back() == ' ') key.remove_suffix(1);
  const std::vector<Part> path = split_key(key, set);
  if (equals == std::string::npos || path.empty())
    return findings.add({set, 1, 1, std::max(characters(key), 1U)}, "this is no setting", std::string(kSetForm));

  const size_t begin = argument.find_first_not_of(' ', equals + 1);
  if (begin == std::string::npos)
    return findings.add({set, 1, static_cast<uint32_t>(equals) + 1, 1}, "a value is missing after '='",
                        std::string(kSetForm));
  Reading reading = read(without_indices(argument, key.size()), set);
  Node* value = reading.tree ? only_value(*reading.tree, path.size()) : nullptr;
  if (value != nullptr) return merge(root, path, std::move(*value), findings);

  const bool begins_like_toml = std::string_view("\"'[{").find(argument[begin]) != std::string_view::npos;
  if (begins_like_toml || argument.find('\n') != std::string::npos) {
    if (!reading.fault) reading.fault = Fault{{1, 1}, "this holds more than one setting", std::string(kSetForm)};
    return add_fault(*reading.fault, set, findings);
  }
  const std::string_view rest = std::string_view(argument).substr(begin);
  merge(root, path, bare_text(rest, static_cast<uint32_t>(begin) + 1, set), findings);
}

}  // namespace mokume::config
