// Describes parameters in one place: the keys of the experiment file (keys.hpp) and the parameters of models. The
// reading of a value, its range and default, its documentation, TOML, JSON, JSON Schema and the lines of `mokume init`
// all derive from this description and therefore agree.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/model.h"
#include "config/config.hpp"

namespace mokume::config {

enum class Type {
  real,
  integer,
  text,
  boolean,
  tagged_table,   // a table that matches one of `tags`
  tagged_tables,  // a list of tagged tables
  // The following types exist only for keys of the file.
  name,         // a text that can be a directory name
  seed,         // an integer >= 0, or decimal digits of any length as a text
  size,         // bytes, or a text such as "4 GiB"
  selection,    // a text or a list of texts, stored joined by commas
  texts,        // a list of texts
  directories,  // a list of absolute paths
  standardize,  // one of `choices`, or a table with the parameters of tags[0]
  table,
  options,  // [model_options], whose keys the model defines
  params    // [search.params], whose keys the model defines
};

using Json = nlohmann::ordered_json;

// Accesses the member of Config that holds a key's value. Both functions are null for tables.
struct Member {
  Json (*get)(const Config&) = nullptr;
  void (*set)(Config&, const Json&) = nullptr;
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool without_low = false;
  bool without_high = false;
};

inline constexpr uint32_t kOfModel = 1;        // belongs to a model; a text without choices may be anything
inline constexpr uint32_t kRequired = 2;       // every file must have the key
inline constexpr uint32_t kInPlan = 4;         // fits depend on the value
inline constexpr uint32_t kPlanIfSet = 8;      // in the plan only if it differs from `before`
inline constexpr uint32_t kZeroAllowed = 16;   // 0 is accepted in addition to `range`
inline constexpr uint32_t kEmptyAllowed = 32;  // the list may be empty
inline constexpr uint32_t kFoldsOnly = 64;     // has no meaning with validation.share
inline constexpr uint32_t kCommon = 128;       // every tag of the list has the parameter
inline constexpr uint32_t kWritten = 256;      // only in resolved files; texts for people do not mention it

struct Tag;
using Expand = decltype(mk_model::expand);

struct Parameter {
  std::string table;  // table in the file; "" is the top level
  std::string name;
  Type type = Type::real;
  std::string doc;  // one line
  Member member;
  uint32_t flags = 0;
  Range range;                       // for numbers and sizes
  std::vector<std::string> choices;  // allowed texts, or empty if any text is allowed
  std::vector<std::string> sources;  // values of data.source for which the key is valid, or empty for all
  std::string init;                  // `mokume init` writes "name = init", or omits the key if this is ""
  std::string before;                // value that stands for versions without the key, as JSON, or "" for the default
  std::string fallback;              // default as TOML, or "" for none or for the default of Config
  std::vector<Tag> tags;             // kinds of tagged table that the value may be
  Expand expand = nullptr;           // makes the list, partly from the tables of [model_options] that `choices` names

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  bool is_number() const { return type == Type::real || type == Type::integer; }
  bool is_tagged() const { return type == Type::tagged_table || type == Type::tagged_tables; }
  std::string path() const;  // returns e.g. "data.limit" or "seed"
  bool holds(double value) const;
};

// Describes a tagged table with `type = name`.
struct Tag {
  std::string name;
  std::string doc;
  std::vector<Parameter> parameters;
  bool expanded = false;  // Parameter::expand replaces these tables, which may have further keys
};

using ModelSchema = std::vector<Parameter>;
ModelSchema model_schema(const mk_model& model);
ModelSchema model_schema(std::span<const mk_param> params, Expand expand = nullptr);

const Parameter* find(const ModelSchema& schema, std::string_view name);  // returns nullptr if there is none
std::vector<std::string> names_of(const std::vector<Parameter>& parameters);
std::vector<std::string> names_of(const std::vector<Tag>& tags);

// Returns the type in words, like "an integer" or "true or false".
const char* wanted(Type type);

// Returns text like "above 0 and at most 1000000".
std::string range_text(const Parameter& parameter);

// Formats a number of the parameter's type: integers in full, reals in their shortest form.
std::string number_text(const Parameter& parameter, double value);

std::string out_of_range(const Parameter& parameter, const std::string& number);

// Returns "data.limit" for "data" and "limit", and "seed" for "" and "seed".
std::string dotted(std::string_view table, std::string_view name);

}  // namespace mokume::config
