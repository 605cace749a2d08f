// Tracks the best candidate of a run in progress, and formats scores for the terminal.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Formats a score with at most four significant digits. Shows the share called "error" in percent, such as "4.08 %".
std::string score_text(const std::string& metric, double value);

std::string score_spread(const std::string& metric, double value);  // formats a standard deviation with three digits

// Returns a JSON object such as {"C": 13.5, "gamma": 0.00202}.
nlohmann::ordered_json params_json(const search::Plan& plan, uint32_t candidate);

// Tracks the candidate with the best mean of the selecting metric among all candidates that have a value in every fold
// of a bootstrap, or of the last rung that any candidate has completed. `plan` and `metrics` must outlive the object.
class BestSoFar {
 public:
  struct Best {
    uint32_t candidate = 0;
    double mean = 0;
    uint32_t rung = 0;
  };

  BestSoFar(const search::Plan& plan, const std::vector<Metric>& metrics);

  // Returns whether this record makes a candidate the best so far. Refits do not count.
  bool add(const journal::FitRecord& record);

  const std::optional<Best>& best() const { return best_; }
  std::string metric() const;  // name of the metric, or "" without a metric
  std::string text() const;    // such as "error 4.08 % with C = 13.5, gamma = 0.00202", or "" without a best candidate

 private:
  const search::Plan& plan_;
  const std::vector<Metric>& metrics_;
  // By bootstrap, candidate and rung, then by fold.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::map<uint32_t, double>> values_;
  std::optional<Best> best_;
};

// Returns the best candidate after all records of the view. The view must outlive the result.
BestSoFar best_so_far(const RunView& view);

}  // namespace mokume::results
