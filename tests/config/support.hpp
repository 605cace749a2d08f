// Builds texts of experiment files and parses them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "config/keys.hpp"
#include "config/parse.hpp"
#include "config/plan.hpp"
#include "config/resolved.hpp"
#include "config/schema.hpp"
#include "config/schemas.hpp"
#include "support/paths.hpp"

namespace mokume::config {

inline ParseResult parse_text(const std::string& text, const std::vector<std::string>& sets = {}) {
  return parse(text, "svm.toml", sets, lookup);
}

inline std::string all_messages(const ParseResult& result, const std::string& text = "",
                                const std::vector<std::string>& sets = {}) {
  return render_all(result.diagnostics, text, sets);
}

inline Config good(const std::string& text, const std::vector<std::string>& sets = {}) {
  const ParseResult result = parse_text(text, sets);
  if (result.config) return *result.config;
  ADD_FAILURE() << all_messages(result, text, sets);
  return {};
}

// Returns the smallest experiment with a model, and `more` lines.
inline std::string experiment(const std::string& model, const std::string& more = "") {
  return "name = \"a\"\nmodel = \"" + model + "\"\n[data]\nsource = \"digits\"\n" + more;
}

inline std::string minimal(const std::string& more = "") { return experiment("svc", more); }

// Returns [search] with its parameters.
inline std::string search_of(const std::string& method, const std::string& params) {
  const std::string candidates = method == "random" ? "candidates = 7\n" : "";
  return "[search]\nmethod = \"" + method + "\"\n" + candidates + "[search.params]\n" + params;
}

inline std::string grid(const std::string& params) { return minimal(search_of("grid", params)); }
inline std::string random_search(const std::string& params) { return minimal(search_of("random", params)); }

inline std::string golden(const std::string& name) {
  return base::read_file(test::source_directory() + "/tests/config/golden/" + name);
}

inline bool same_space(const search::Space& a, const search::Space& b) { return a == b; }

inline bool same(const Config& a, const Config& b) {
  return std::all_of(keys().begin(), keys().end(),
                     [&](const Parameter& key) {
                       return key.member.get == nullptr || key.member.get(a) == key.member.get(b);
                     }) &&
         a.seed == b.seed &&
         std::equal(a.spaces.begin(), a.spaces.end(), b.spaces.begin(), b.spaces.end(), same_space) &&
         a.options == b.options && a.references == b.references && a.tagged == b.tagged;
}

}  // namespace mokume::config
