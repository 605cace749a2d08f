// An experiment file, checked and resolved.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"
#include "search/plan.hpp"

namespace mokume::config {

// A value in [model_options]. "$name" stands for what a candidate has for the searched parameter `name`: then
// `reference` is that name and `value` is zero or empty, of the type that is wanted.
struct Field {
  std::string key;
  search::Value value;
  std::string reference;

  bool operator==(const Field&) const = default;
};

// { type = "adam", lr = 0.001 }: every key that the form has, in the order of the model's schema.
struct Form {
  std::string type;
  std::vector<Field> fields;

  bool operator==(const Form&) const = default;
};

// The value of a parameter of type MK_PARAM_FORM (one item, no list) or MK_PARAM_FORMS.
struct Forms {
  bool list = false;
  std::vector<Form> items;

  bool operator==(const Forms&) const = default;
};

struct Config {
  std::string name;
  std::string model;
  std::string seed_text = "0";  // as written
  uint64_t seed = 0;            // the number, or the first 64 bits of SHA-256 of a longer decimal string

  data::DataSpec data;

  uint32_t folds = 5;  // 0: no validation; 1 with a share
  double share = 0;    // of the rows that are validated on, drawn with the seed; 0: folds
  bool shuffle = false;
  bool stratified = false;

  uint32_t bootstraps = 0;    // 0: no bagging
  std::string random_compat;  // whose random draws are replayed: numpy; "": none

  std::string method = "none";                    // grid | random | list | none
  uint32_t n_candidates = 0;                      // random: drawn; list with bagging: of each bootstrap, 0: all
  std::string select;                             // the metric that chooses; "": the model's own
  std::vector<search::Space> spaces;              // in the order of the file
  std::map<std::string, search::Value> options;   // [model_options], defaults filled in for what is not searched
  std::map<std::string, std::string> references;  // [model_options] name = "$searched"
  std::map<std::string, Forms> forms;             // [model_options]: optimizers, layers; defaults filled in

  std::string devices = "all";                  // [devices] use
  std::string isolation = "thread";             // [devices] isolation: thread | process
  bool team = false;                            // [devices] team: all of them train one network together
  std::string repeat_splits;                    // [devices] repeat_splits: a run directory; "": speeds decide
  std::vector<std::string> plugin_directories;  // [plugins] directories (absolute)
  uint64_t memory_bytes = 0;                    // [devices] memory: budget per device; 0 = from the machine
  std::string output = "runs";                  // [output] directory
};

// One error in a file (or in a --set argument).
struct Diagnostic {
  std::string file;     // or "--set argument 2"
  uint32_t line = 0;    // from 1; 0 = no place
  uint32_t column = 0;  // from 1
  uint32_t length = 1;  // characters underlined
  std::string message;  // "unknown key 'gama' in [search.params]"
  std::string hint;     // "did you mean 'gamma'?", or ""
  std::string note;     // "svc takes: C, gamma", or ""
  uint32_t set = 0;     // the --set argument it stands in, from 1; 0 = the file
};

// What a model plugin takes; fetched by name while the file is checked. Returns no value and fills `why` if there is
// no such model.
struct ModelSchema {
  const mk_param* params = nullptr;
  uint32_t n_params = 0;
};
using SchemaLookup = std::function<std::optional<ModelSchema>(
    const std::string& model, const std::vector<std::string>& plugin_directories, std::string& why)>;

struct ParseResult {
  std::optional<Config> config;         // only if there are no diagnostics
  std::vector<Diagnostic> diagnostics;  // sorted by line and column
};

// `sets` are the texts after --set. Never throws for bad input. `file` is shown in messages.
ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup);

// error: unknown key 'gama' in [search.params]
//   --> svm.toml:17:1
//    |
// 17 | gama = { log10 = [-3, 6], n = 24 }
//    | ^^^^ did you mean 'gamma'?
//    = svc takes: C, gamma
//
// `text` is what the diagnostic stands in: the file's text, or the --set argument's.
std::string render(const Diagnostic& diagnostic, const std::string& text);

// All of them, one block after the other, each drawn in the file or the --set argument that it stands in.
std::string render_all(const std::vector<Diagnostic>& diagnostics, const std::string& text,
                       const std::vector<std::string>& sets);

// The resolved config as TOML: every key with its value, defaults written out, reading back to the same Config.
std::string to_toml(const Config& config);

// What the plan depends on, in canonical JSON (keys sorted, no spaces): everything but the name, devices, memory,
// plugin directories and output, none of which can change a fit. The seed stands without leading zeros.
std::string canonical_json(const Config& config);

// JSON Schema (draft 4) of experiment files for editors, from the same tables that parse() checks against.
std::string json_schema(const std::map<std::string, ModelSchema>& models);

// An experiment file to start from: every parameter of `model` with its default and what it means, and what the tables
// among them may be. parse() takes it if every parameter has a default.
std::string starter_toml(const std::string& model, const ModelSchema& schema);

// Candidates and hash: SHA-256 of canonical_json, the data's hash and the plan format. `rows`: of the training data;
// NumPy's draws depend on it. Throws Error(MK_INVALID_ARGUMENT) if there are no candidates or too many (over 10
// million, or over 2^32 - 1 fits).
search::Plan make_plan(const Config& config, const std::string& data_sha256, int64_t rows = 0);

}  // namespace mokume::config
