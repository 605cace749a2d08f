// Holds the state of an experiment file while parse() checks it: the values read so far and the status of its keys.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.hpp"
#include "config/tree.hpp"

namespace mokume::config {

class Reading {
 public:
  Reading(const Node& root, Diagnostics& found) : diagnostics(found), root_(root) {}

  // Reads every key of the file into `config`, except those that the model defines.
  void read_keys() { read_table("", root_); }
  void report_unknown_keys();
  void report_missing_keys();

  // Returns a hint for a key that is misspelt or in the wrong table, or "".
  std::string hint_for(const std::string& table, const Entry& entry, const std::vector<std::string>& known);
  void report_unknown(const std::string& table, const Entry& entry, const std::vector<std::string>& known,
                      const std::string& takes);

  bool is_good(const std::string& path) const { return good_.count(path) != 0; }
  // Returns whether an unknown key may mean `name` in `table`, or a table that contains `name`. If so, parse() does not
  // report `name` as missing.
  bool is_meant(const std::string& table, const std::string& name) const;
  const Entry* find(const std::string& table, const std::string& name) const;  // returns nullptr if there is none
  const Entry* find_table(const std::string& path) const;                      // returns nullptr if it is not a table

  Config config;
  std::optional<ModelSchema> schema;  // empty if the model was not found
  Diagnostics& diagnostics;

 private:
  void read_table(const std::string& table, const Node& node);
  void report_missing(const std::string& table, const Node& node, const Location& header);

  const Node& root_;
  std::vector<std::pair<std::string, const Entry*>> unknown_;
  std::map<std::string, const Entry*> tables_;  // by path; only existing tables
  std::set<std::string> good_;                  // paths of keys with valid values
  std::set<std::string> meant_;                 // paths of keys that unknown keys probably mean
};

}  // namespace mokume::config
