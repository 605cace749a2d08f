// Provides a directory per test, a small plan, and records for the journal's tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "journal/record.hpp"
#include "sdk/error.hpp"
#include "search/plan.hpp"
#include "support/scratch.hpp"

namespace mokume::journal {

class Scratch : public test::Scratch {
 public:
  std::string directory() const { return path() + "/journal"; }
  std::string file(uint32_t node) const { return directory() + "/node-000" + std::to_string(node) + ".ndjson"; }
};

inline search::Plan small_plan(uint32_t candidates = 20) {
  search::Plan plan;
  plan.candidates.resize(candidates);
  plan.bootstraps = 2;
  plan.folds = 5;
  plan.hash = "0123456789abcdef";
  return plan;
}

inline FitRecord make_record(uint32_t fit) {
  FitRecord record;
  record.fit = fit;
  record.n = 1000 + fit;
  record.values = {static_cast<double>(fit), fit / 7.0};
  record.note = "note of " + std::to_string(fit);
  record.device = "opencl:0";
  record.bundle = fit / 4;
  record.attempt = 1;
  record.start_s = 1e9 + fit;
  record.end_s = 1e9 + fit + 0.5;
  return record;
}

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void spill(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace mokume::journal
