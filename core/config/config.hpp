// Defines Config, the experiment file as the rest of the program reads it. parse.hpp makes a Config from TOML,
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

// Holds a value of [model_options]. If the value is "$name", which refers to the searched parameter `name`, `reference`
// is that name, and `value` is zero or empty and has the type that the model requires.
struct Field {
  std::string key;
  search::Value value;
  std::string reference;

  bool operator==(const Field&) const = default;
};

// Holds a table whose key "type" selects its kind, e.g. { type = "adam", lr = 0.001 }. `fields` is in the order of the
// model's schema and omits newer keys that have their defaults.
struct TaggedTable {
  std::string type;
  std::vector<Field> fields;

  bool operator==(const TaggedTable&) const = default;
};

// Holds the value of a parameter: one tagged table (an optimizer), a list of them (the layers of a network), or
// alternatives, of which each candidate has one.
struct TaggedTables {
  bool list = false;
  std::vector<TaggedTable> tables;
  // Names the searched parameter whose value is the type of a candidate's table. Empty unless there are alternatives.
  std::string chosen_by = {};

  bool operator==(const TaggedTables&) const = default;
};

struct Config {
  std::string name;
  std::string model;
  std::string seed_text = "0";  // digits as written in the file
  uint64_t seed = 0;            // value of seed_of(seed_text)

  data::DataSpec data;

  uint32_t folds = 5;    // 0 means no validation; 1 if `share` is set
  double share = 0;      // share of the rows to validate on, drawn with the seed, or 0 to validate on folds
  uint32_t repeats = 1;  // runs of the cross-validation, each with other folds
  bool shuffle = true;
  bool stratified = true;
  uint32_t outer = 0;       // number of outer folds of a nested cross-validation, or 0
  uint32_t outer_fold = 0;  // outer fold that is the test set of this run, counted from 1, or 0 for none
  bool ordered = false;     // rows are in the order of time; every fold validates on rows after those that it trains on
  std::vector<std::string> score;  // measures of each fit in addition to the model's metrics
  bool calibrate = false;          // whether to learn probabilities from decision values in the best candidate's folds

  // Returns whether each fold fills and scales its inputs by its own training rows.
  bool scales_folds() const { return folds > 0 && data.within == data::Within::fold && data.learns(); }

  uint32_t bootstraps = 0;    // 0 means no bagging
  std::string random_compat;  // "numpy" replays NumPy's random draws; "" does not

  std::string method = "none";        // "grid", "random", "list" or "none"
  uint32_t n_candidates = 0;          // number to draw (random) or per bootstrap (list with bagging, 0 for all)
  uint32_t rungs = 1;                 // rungs of successive halving; 1 computes every fit on all rows
  uint32_t factor = 4;                // ratio of candidates, and of rows, between two rungs
  bool whole = true;                  // whether the last rung has all rows, and a model of all rows follows
  uint32_t trials = 0;                // if positive, number of candidates to compute, chosen by earlier results
  uint32_t at_once = 4;               // number of trials that may be under way at once
  std::string select;                 // metric that selects the best candidate, or "" for the model's default
  std::vector<search::Space> spaces;  // in file order
  std::map<std::string, search::Value> options;   // [model_options] that are not searched, with defaults
  std::map<std::string, std::string> references;  // [model_options] with a value "$searched"
  std::set<std::string> unplanned;                // [model_options] that the plan's hash leaves out
  std::map<std::string, TaggedTables> tagged;     // [model_options] that hold tables, such as layers, with defaults
  // Maps each file that [model_options] name to its SHA-256, by path. The reader of the files sets this member.
  std::map<std::string, std::string> file_sums;

  std::string devices = "all";                  // [devices] use
  std::string isolation = "thread";             // [devices] isolation, "thread" or "process"
  bool team = false;                            // [devices] team, with which all devices train one network
  std::string split = "auto";                   // [devices] split: "auto", "batch", "states" or "layers"
  std::string sums = "mpi";                     // [devices] sums, "mpi" or "sockets"
  std::string precision = "fp32";               // [devices] precision, "fp32", "tf32" or "bf16"
  std::string numerics = "fast";                // [devices] numerics, "fast" or "strict"
  std::string repeat_splits;                    // [devices] repeat_splits, a run directory, or "" if speeds decide
  std::vector<std::string> plugin_directories;  // [plugins] directories, which are absolute paths
  uint64_t memory_bytes = 0;                    // [devices] memory, in bytes per device, or 0 if the machine decides
  std::string output = "runs";                  // [output] directory
};

}  // namespace mokume::config
