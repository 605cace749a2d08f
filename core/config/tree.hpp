// Reads TOML into a tree that keeps the location of every key and value, in file order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.hpp"

namespace mokume::config {

struct Entry;

struct Node {
  enum class Kind { table, array, text, integer, real, boolean, date };

  Kind kind = Kind::table;
  Location location;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Node> items;     // elements of an array
  std::vector<Entry> entries;  // entries of a table; --set appends to them

  const Entry* find(std::string_view key) const;  // returns nullptr if there is none
  bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  double number() const { return kind == Kind::real ? real : static_cast<double>(integer); }
};

struct Entry {
  std::string key;
  Location location;
  Node value;
};

// Returns the kind in words, like "a table" or "a list".
const char* describe(Node::Kind kind);

// Checks that `text` is UTF-8, is not too long and nests no key too deeply. Otherwise adds one diagnostic and returns
// false. `set` is 0 for the file, else the number of the --set argument.
bool check_text(std::string_view text, uint32_t set, Diagnostics& diagnostics);

// Parses TOML. Adds one diagnostic and returns nothing if `text` is not TOML.
std::optional<Node> read_tree(const std::string& text, uint32_t set, Diagnostics& diagnostics);

}  // namespace mokume::config
