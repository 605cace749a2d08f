// The experiment file. This header defines the struct that the rest of the program reads. parse.hpp makes it from TOML,
// resolved.hpp writes it, schema.hpp describes the file, and plan.hpp makes the plan. keys.cpp describes each key in
// one place. Nothing in this folder loads data, models or devices.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "search/plan.hpp"

namespace mokume::config {

// A value in [model_options]. "$name" refers to the value of the searched parameter `name` in a candidate: `reference`
// is then that name, and `value` is zero or empty, with the type that the model requires.
struct Field {
  std::string key;
  search::Value value;
  std::string reference;

  bool operator==(const Field&) const = default;
};

// A table whose key "type" selects its kind: { type = "adam", lr = 0.001 }. It holds every key of that kind, in the
// order of the model's schema.
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
  std::string seed_text = "0";  // the digits in the file
  uint64_t seed = 0;            // see seed_of()

  data::DataSpec data;

  uint32_t folds = 5;    // 0: no validation; 1 if `share` is set
  double share = 0;      // validate on this share of the rows, drawn with the seed; 0: on folds
  uint32_t repeats = 1;  // runs of the cross-validation, each with other folds
  bool shuffle = true;
  bool stratified = true;
  uint32_t outer = 0;       // outer folds of a nested cross-validation; 0: none
  uint32_t outer_fold = 0;  // counts from 1; its rows are the test set, and tuning and training leave them out
  bool ordered = false;     // the rows are in the order of time: validate on rows that come after those trained on
  std::vector<std::string> score;  // measures of each fit in addition to the model's metrics
  bool calibrate = false;          // learn probabilities from the decision values in the winner's folds

  // Returns whether each fold fills and scales its inputs by its own training rows.
  bool scales_folds() const { return folds > 0 && data.within == data::Within::fold && data.learns(); }

  uint32_t bootstraps = 0;    // 0: no bagging
  std::string random_compat;  // "numpy": replay NumPy's random draws; "": none

  std::string method = "none";        // grid | random | list | none
  uint32_t n_candidates = 0;          // random: number to draw; list with bagging: number per bootstrap, 0: all
  std::string select;                 // the selecting metric; "": the model's default
  std::vector<search::Space> spaces;  // in file order
  std::map<std::string, search::Value> options;   // [model_options] that are not searched, with defaults
  std::map<std::string, std::string> references;  // [model_options] name = "$searched"
  std::set<std::string> unplanned;                // [model_options] outside the plan, with their defaults
  std::map<std::string, TaggedTables> tagged;     // [model_options]: optimizers, layers; with defaults
  // The SHA-256 by path of the files that [model_options] name, set by the reader of these files.
  std::map<std::string, std::string> file_sums;

  std::string devices = "all";                  // [devices] use
  std::string isolation = "thread";             // [devices] isolation: thread | process
  bool team = false;                            // [devices] team: all devices train one network
  std::string repeat_splits;                    // [devices] repeat_splits: a run directory; "": speeds decide
  std::vector<std::string> plugin_directories;  // [plugins] directories (absolute)
  uint64_t memory_bytes = 0;                    // [devices] memory: budget per device; 0: from the machine
  std::string output = "runs";                  // [output] directory
};

}  // namespace mokume::config
