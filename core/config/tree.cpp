#include "config/tree.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <tuple>

#include "base/text.hpp"
#include "config/diagnostics.hpp"

namespace mokume::config {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr int kMaxDots = 64;

// Returns the location of byte `at` in `text`; the text before it is valid UTF-8.
Location location_of(std::string_view text, size_t at, uint32_t set) {
  const std::string_view before = text.substr(0, at);
  const auto lines = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
  return {set, lines + 1, characters(before.substr(before.rfind('\n') + 1)) + 1, 1};  // npos + 1 == 0
}

// Tells where a quoted text or a comment ends, and whether the text is closed.
struct Opaque {
  size_t end = 0;
  bool closed = true;
};

Opaque skip_opaque(std::string_view text, size_t at) {
  if (text[at] == '#') return {std::min(text.find('\n', at), text.size())};
  const char quote = text[at];
  const std::string triple(3, quote);
  const bool multi_line = text.substr(at, 3) == triple;
  for (at += multi_line ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (multi_line ? text.substr(at, 3) == triple : (text[at] == quote || text[at] == '\n')) {
      return {at + (multi_line ? 3 : 1), multi_line || text[at] == quote};
    }
  }
  return {text.size(), false};
}

// Returns the quotes that open the string at `at`, e.g. " or """.
std::string_view opening(std::string_view text, size_t at) {
  const std::string_view three = text.substr(at, 3);
  return three == "\"\"\"" || three == "'''" ? three : three.substr(0, 1);
}

// Returns the position of the first quote that opens an unclosed string, or npos.
size_t find_unclosed(std::string_view text) {
  for (size_t at = 0; (at = text.find_first_of("#\"'", at)) != std::string_view::npos;) {
    const Opaque found = skip_opaque(text, at);
    if (!found.closed) return at;
    at = found.end;
  }
  return std::string_view::npos;
}

// Returns the position of the dot that nests a key too deeply, or npos. A dotted key nests one table per dot, and the
// TOML reader recurses over tables, so thousands of dots exhaust its stack.
size_t find_deep_key(std::string_view text) {
  int dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#' || c == '"' || c == '\'') {
      at = skip_opaque(text, at).end;
      continue;
    }
    if (c == '.' && ++dots > kMaxDots) return at;
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) dots = 0;
    ++at;
  }
  return std::string_view::npos;
}

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
    node.location = location(from.source());
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
  // Returns the location of a region. A region that spans lines is underlined to the end of its first line.
  Location location(const toml::source_region& region) const {
    const auto& [line, column] = region.begin;
    Location result{set_, line, column, 1};
    if (region.end.line == line) {
      result.length = region.end.column - column;
    } else if (line >= 1 && line <= lengths_.size()) {
      result.length = std::max(lengths_[line - 1] + 1, column + 1) - column;
    }
    return result;
  }

  void build_table(const toml::table& table, Node& node) const {
    node.entries.reserve(table.size());
    for (const auto& [key, value] : table)
      node.entries.push_back({std::string(key.str()), location(key.source()), build(value)});
    // toml++ sorts the keys of a table.
    std::stable_sort(node.entries.begin(), node.entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.location.line, a.location.column) < std::tie(b.location.line, b.location.column);
    });
  }

  static void build_scalar(const toml::node& from, Node& node) {
    node.kind = Node::Kind::date;
    from.visit([&](const auto& value) {
      if constexpr (toml::is_string<decltype(value)>) {
        node.kind = Node::Kind::text;
        node.text = value.get();
      } else if constexpr (toml::is_integer<decltype(value)>) {
        node.kind = Node::Kind::integer;
        node.integer = value.get();
      } else if constexpr (toml::is_floating_point<decltype(value)>) {
        node.kind = Node::Kind::real;
        node.real = value.get();
      } else if constexpr (toml::is_boolean<decltype(value)>) {
        node.kind = Node::Kind::boolean;
        node.boolean = value.get();
      }
    });
  }

  uint32_t set_;
  std::vector<uint32_t> lengths_;  // by line, in characters
};

// Holds a word where TOML expects a value, and the byte at which the word begins.
struct Word {
  std::string_view text;
  size_t begin = 0;
};

// Returns the word at or before byte `at`, or an empty word if TOML does not expect a value there.
Word value_word(std::string_view text, size_t at) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t last = at == 0 ? std::string_view::npos : text.find_last_of(" \t\r\n,[]{}#=\"'", at - 1);
  const size_t begin = last + 1;  // npos + 1 == 0
  const size_t before = begin == 0 ? std::string_view::npos : text.find_last_not_of(kBlanks, begin - 1);
  if (before == std::string_view::npos || std::string_view("=[,").find(text[before]) == std::string_view::npos)
    return {};
  const size_t line = text.find_last_of('\n', before) + 1;
  if (text[text.find_first_not_of(kBlanks, line)] == '[') return {};  // the header of a table
  return {text.substr(begin, text.find_first_of(" \t\r\n,]}#=\"'", begin) - begin), begin};
}

// Returns whether the word is a number that the type Number cannot hold.
template <class Number>
bool is_out_of_range(std::string word) {
  std::erase(word, '_');
  const char* const end = word.data() + word.size();
  const char* const begin = word.data() + (word.starts_with('+') ? 1 : 0);
  Number number{};
  const auto read = std::from_chars(begin, end, number);
  return read.ec == std::errc::result_out_of_range && read.ptr == end;
}

// Describes common faults of values in the words of mokume, and any other fault in those of toml++.
void add_syntax_error(const toml::parse_error& error, std::string_view text, uint32_t set, Diagnostics& diagnostics) {
  const toml::source_position& at = error.source().begin;
  if (const size_t quote = find_unclosed(text); quote != std::string_view::npos)
    if (const Location open = location_of(text, quote, set);
        std::tie(open.line, open.column) <= std::tie(at.line, at.column))
      return diagnostics.add(open, "this string is not closed", fmt::format("add {} at its end", opening(text, quote)));
  size_t line = 0;
  for (uint32_t n = 1; n < at.line && line < text.size(); ++n)
    line = std::min(text.find('\n', line), text.size() - 1) + 1;
  const size_t byte = line + byte_of(text.substr(line), at.column - 1);
  const Word word = value_word(text, byte);
  Location place = location_of(text, word.begin, set);
  place.length = std::max(characters(word.text), 1U);
  if (is_out_of_range<int64_t>(std::string(word.text)))
    return diagnostics.add(place, "this integer does not fit into 64 bits",
                           "a seed may be longer: write it as a string, in quotes");
  if (is_out_of_range<double>(std::string(word.text)))
    return diagnostics.add(place, "this number is too large", "numbers go up to 1.797e308");
  const bool bare =
      !word.text.empty() && std::string_view("+-._0123456789").find(word.text[0]) == std::string_view::npos;
  if (bare && word.begin == byte)
    return diagnostics.add(place, "this is not a value",
                           word.text == "True" || word.text == "False"
                               ? "write it in lower case"
                               : fmt::format("strings need quotes: \"{}\"", printable(word.text, 40)));
  diagnostics.add({set, at.line, at.column, 1}, "syntax error", "",
                  "toml++ says: " + printable(error.description(), 200));
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const char* describe(Node::Kind kind) {
  constexpr std::array kWords = {"a table",       "a list",        "a string",      "an integer",
                                 "a real number", "true or false", "a date or time"};
  return kWords.at(static_cast<size_t>(kind));
}

bool check_text(std::string_view text, uint32_t set, Diagnostics& diagnostics) {
  const auto fail = [&](const Location& location, const std::string& message, const std::string& hint = "") {
    diagnostics.add(location, message, hint);
    return false;
  };
  if (text.size() > kMaxBytes)
    return fail({set, 0, 0, 1}, fmt::format("this is too long: {} bytes, the limit is 1 MiB", text.size()));
  for (size_t at = 0; at < text.size();) {
    const size_t length = base::utf8_length(text.substr(at));
    if (text[at] == '\0') return fail(location_of(text, at, set), "this is not text: it has a NUL byte");
    if (length == 0)
      return fail(location_of(text, at, set),
                  fmt::format("this is not UTF-8: byte 0x{:02X}", static_cast<unsigned char>(text[at])),
                  "save the file as UTF-8");
    at += length;
  }
  const size_t deep = find_deep_key(text);
  return deep == std::string_view::npos || fail(location_of(text, deep, set), "this key is nested too deeply");
}

std::optional<Node> read_tree(const std::string& text, uint32_t set, Diagnostics& diagnostics) {
  if (!check_text(text, set, diagnostics)) return std::nullopt;
  try {
    return Builder(text, set).build(toml::parse(text));
  } catch (const toml::parse_error& error) {
    add_syntax_error(error, text, set, diagnostics);
    return std::nullopt;
  }
}

}  // namespace mokume::config
