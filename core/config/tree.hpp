// TOML text as a tree that remembers where every key and value stands, with --set arguments merged in.
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
  Place place;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Node> items;     // array
  std::vector<Entry> entries;  // table, in the order of the file; --set adds at the end

  const Entry* find(std::string_view key) const;  // nullptr: not there
};

struct Entry {
  std::string key;
  Place place;
  Node value;
};

// "a table", "a list", "a text", ...
const char* describe(Node::Kind kind);

// Reads `text`; on any fault adds one finding and returns nothing. `set` is 0 for the file, else the --set argument.
std::optional<Node> read_tree(const std::string& text, uint32_t set, Findings& findings);

// Applies `argument` (a.b.c=VALUE, the set-th --set argument) to the tree; a[2] is an element of a list, from 0. VALUE
// is TOML; what is no TOML and does not begin like a quoted text, list or table is taken as a text.
void apply_set(Node& root, const std::string& argument, uint32_t set, Findings& findings);

}  // namespace mokume::config
