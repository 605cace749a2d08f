// The experiment file. This header is the struct that the rest of the program reads; parse.hpp makes one from TOML,
// resolved.hpp writes it, schema.hpp and starter.hpp describe the file, and plan.hpp makes the plan. keys.cpp describes
// every key once. Nothing here loads data, models or devices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "search/plan.hpp"

namespace mokume::config {

// A value in [model_options]. "$name" stands for the value that a candidate has for the searched parameter `name`: then
// `reference` is that name and `value` is zero or empty, of the type that the model wants.
struct Field {
  std::string key;
  search::Value value;
  std::string reference;

  bool operator==(const Field&) const = default;
};

// A table that its key "type" tells apart: { type = "adam", lr = 0.001 }. It holds every key that such a table has, in
// the order of the model's schema.
struct TaggedTable {
  std::string type;
  std::vector<Field> fields;

  bool operator==(const TaggedTable&) const = default;
};

// The value of a parameter that is one tagged table (an optimizer) or a list of them (the layers of a network).
struct TaggedTables {
  bool list = false;
  std::vector<TaggedTable> tables;

  bool operator==(const TaggedTables&) const = default;
};

struct Config {
  std::string name;
  std::string model;
  std::string seed_text = "0";  // as written
  uint64_t seed = 0;            // see seed.hpp

  data::DataSpec data;

  uint32_t folds = 5;  // 0: no validation; 1 with a share
  double share = 0;    // validate on this share of the rows, drawn with the seed; 0: on folds
  bool shuffle = true;
  bool stratified = true;

  uint32_t bootstraps = 0;    // 0: no bagging
  std::string random_compat;  // whose random draws are replayed: numpy; "": none

  std::string method = "none";                    // grid | random | list | none
  uint32_t n_candidates = 0;                      // random: drawn; list with bagging: of each bootstrap, 0: all
  std::string select;                             // the metric that chooses; "": the model's own
  std::vector<search::Space> spaces;              // in the order of the file
  std::map<std::string, search::Value> options;   // [model_options], defaults filled in for what is not searched
  std::map<std::string, std::string> references;  // [model_options] name = "$searched"
  std::map<std::string, TaggedTables> tagged;     // [model_options]: optimizers, layers; defaults filled in

  std::string devices = "all";                  // [devices] use
  std::string isolation = "thread";             // [devices] isolation: thread | process
  bool team = false;                            // [devices] team: all devices train one network
  std::string repeat_splits;                    // [devices] repeat_splits: a run directory; "": speeds decide
  std::vector<std::string> plugin_directories;  // [plugins] directories (absolute)
  uint64_t memory_bytes = 0;                    // [devices] memory: budget per device; 0: from the machine
  std::string output = "runs";                  // [output] directory
};

}  // namespace mokume::config
