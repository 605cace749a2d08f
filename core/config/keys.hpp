// Every key of an experiment file in one table: parse(), to_toml(), canonical_json() and json_schema() all read it, so
// that they cannot disagree. A new key is one line here and one member of Config.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.hpp"

namespace mokume::config {

enum class Type {
  table,
  text,    // any text that is not empty
  name,    // a text that can be the name of a directory
  choice,  // one of `choices`
  boolean,
  integer,      // minimum..maximum
  share,        // a number above 0 and below 1; 0 in Config: not given
  texts,        // a list of texts
  directories,  // a list of absolute paths
  seed,         // an integer >= 0 or a decimal text of any length
  size,         // bytes, or a text such as "4 GiB"
  selection,    // a text or a list of texts, kept joined by commas
  standardize,  // "none", "features" or { mean, scale }
  options,      // [model_options]: keys come from the model
  params        // [search.params]: keys come from the model
};

// Where a key is kept. std::monostate: nowhere (tables, and what the model defines).
using Slot = std::variant<std::monostate, std::string*, bool*, double*, int64_t*, uint32_t*, uint64_t*,
                          std::vector<std::string>*, data::Missing*, data::Standardize*>;

// Flags.
inline constexpr uint32_t kRequired = 1;
inline constexpr uint32_t kInPlan = 2;        // fits depend on it
inline constexpr uint32_t kZeroAllowed = 4;   // integer: 0 as well as minimum..maximum
inline constexpr uint32_t kEmptyAllowed = 8;  // texts

struct Key {
  const char* table;  // "" is the top level
  const char* name;
  Type type;
  const char* doc;
  Slot (*slot)(Config&) = nullptr;
  uint32_t flags = 0;
  int64_t minimum = 0;
  int64_t maximum = 0;
  const char* choices = "";  // separated by '|'; for data::Missing in the order of the enumeration
  const char* sources = "";  // [data]: the sources that take the key, separated by '|'; "" for all

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

std::span<const Key> keys();

const Key* find_key(std::string_view table, std::string_view name);  // nullptr: there is none
std::vector<std::string> names_in(std::string_view table);

// "data", "limit" -> "data.limit"; "", "seed" -> "seed".
std::string dotted(std::string_view table, std::string_view name);

// "[data]", or "the top level".
std::string title(std::string_view table);
std::string inside(std::string_view table);  // "in [data]", or "at the top level"

// How a searched parameter may be written beside a list; see search::Space.
struct Shape {
  const char* name;
  bool distribution;  // for random search; else a list, with n
  double base;        // the ends are exponents of it; 0: the ends are values
  search::Space::Kind kind;
  const char* doc;
};
std::span<const Shape> shapes();

inline constexpr int64_t kMaxListLength = 100'000;
inline constexpr int64_t kMaxExactInteger = int64_t{1} << 53;  // what search::Space's doubles hold

}  // namespace mokume::config
