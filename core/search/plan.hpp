// The plan is the ordered list of all fits. It is a pure function of config, seed and data hash.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mokume::search {

// Holds a parameter's value: a real, an integer, a text or a boolean.
using Value = std::variant<double, int64_t, std::string, bool>;

// Returns the value as results.csv stores it. A real has its shortest round-trip form; a boolean is true or false.
std::string to_text(const Value& value);

// Tells for which values of an earlier parameter another one counts.
struct Condition {
  std::string name;           // name of the earlier parameter
  size_t index = 0;           // its place among the searched parameters
  std::vector<Value> values;  // the values with which the other one counts

  bool operator==(const Condition&) const = default;
};

// Describes a searched parameter: a list of values or a distribution.
struct Space {
  enum class Kind { list, real_uniform, log10_uniform, integer_uniform, integer_log } kind = Kind::list;
  std::string name;
  std::vector<Value> values;  // for a list
  double low = 0, high = 0;   // for a distribution: both ends (exponents for log10_uniform; inclusive for integers)
  double step = 0;            // if positive, values are low, low + step, ... up to high; only for uniform ones
  // The parameter counts in candidates for which all of these hold. In the others it has the value `otherwise`.
  std::vector<Condition> when = {};
  Value otherwise = {};

  bool operator==(const Space&) const = default;
};

struct FitKey {
  uint32_t candidate = 0;
  uint32_t bootstrap = 0;
  uint32_t fold = 0;
};

// Fit ids are indices, ordered by candidate, bootstrap and fold. After them, each bootstrap has one slot for its refit,
// which trains the candidate that the results of the fits select, unless `whole` is false.
struct Plan {
  std::vector<std::string> params;             // searched parameters, in file order
  std::vector<std::vector<Value>> candidates;  // values in the order of params
  uint32_t bootstraps = 1;
  uint32_t folds = 0;    // number over all repeats
  uint32_t repeats = 1;  // repetitions of the cross-validation, with folds / repeats folds each
  // If positive, the repeats are the rungs of successive halving: each has `factor` times the rows of the one before,
  // and only the best candidates of the one before, of which there are 1 / factor. The fits of the others are dropped.
  uint32_t factor = 0;
  bool whole = true;  // whether fits of the last rung, and refits, train on all rows; otherwise there are no refits
  // If positive, only so many candidates of each bootstrap are computed, each chosen by the results of earlier ones.
  uint32_t trials = 0;
  // If positive, every bootstrap has its own list of this many candidates, starting with bootstrap 0. If 0, all
  // bootstraps share the candidates.
  uint32_t own_candidates = 0;
  std::string hash;  // SHA-256 in hex
  // Tells for each candidate which parameters count (Space::when). Empty if all count everywhere.
  std::vector<std::vector<bool>> counting = {};

  bool counts(size_t candidate, size_t param) const { return counting.empty() || counting[candidate][param]; }
  uint32_t folds_each() const { return folds / repeats; }
  uint32_t rungs() const { return factor > 0 ? repeats : 1; }
  uint32_t folds_in_rung() const { return folds / rungs(); }  // the mean over these folds compares candidates
  uint32_t rung_of(uint32_t fit) const { return factor > 0 ? fit % folds / folds_each() : 0; }
  // Returns a number that fits have in common if one decision lets them begin: their rung, or their trial.
  uint32_t stage_of(uint32_t fit) const { return trials > 0 ? fit / folds : rung_of(fit); }
  // Returns how many candidates reach a rung, counted from 0.
  uint32_t candidates_in(uint32_t rung) const {
    uint64_t left = candidates.size();
    for (uint32_t r = 0; r < rung; ++r) left = (left + factor - 1) / factor;
    return static_cast<uint32_t>(left);
  }

  bool decides() const { return factor > 0 || trials > 0; }  // results decide which fits are computed
  uint32_t n_candidates() const { return static_cast<uint32_t>(candidates.size()); }
  uint32_t candidates_per_bootstrap() const { return own_candidates > 0 ? own_candidates : n_candidates(); }
  uint32_t fits_per_candidate() const { return (own_candidates > 0 ? 1 : bootstraps) * folds; }
  // Returns how many fits are computed if none fails: all, those of the trials, or those of the candidates that reach
  // each rung.
  uint32_t n_computed() const {
    if (trials > 0) return trials * bootstraps * folds;
    if (factor == 0) return n_fits();
    uint32_t fits = 0;
    for (uint32_t rung = 0; rung < rungs(); ++rung) fits += candidates_in(rung) * folds_each();
    return fits;
  }
  uint32_t n_recorded() const { return trials > 0 ? n_computed() : n_fits(); }  // fits with a record in a complete run
  uint32_t n_fits() const { return n_candidates() * fits_per_candidate(); }
  uint32_t n_refits() const { return whole ? bootstraps : 0; }
  uint32_t n_slots() const { return n_fits() + n_refits(); }
  bool is_refit(uint32_t id) const { return id >= n_fits(); }
  uint32_t refit_slot(uint32_t bootstrap) const { return n_fits() + bootstrap; }

  // Expects the id of a fit, not that of a refit.
  FitKey key(uint32_t id) const {
    const uint32_t candidate = id / fits_per_candidate();
    return {candidate, own_candidates > 0 ? candidate / own_candidates : id / folds % bootstraps, id % folds};
  }
  bool has(uint32_t candidate, uint32_t bootstrap) const {
    return candidate < n_candidates() && bootstrap < bootstraps &&
           (own_candidates == 0 || candidate / own_candidates == bootstrap);
  }
  // The candidate must belong to the bootstrap.
  uint32_t fit_id(uint32_t candidate, uint32_t bootstrap, uint32_t fold) const {
    return candidate * fits_per_candidate() + (own_candidates > 0 ? 0 : bootstrap * folds) + fold;
  }
};

inline constexpr uint64_t kMaxCandidates = 10'000'000;

// A grid is the product of all lists; the last parameter varies fastest. A parameter that does not count is not varied.
// Without searched parameters, a grid has one candidate. A list takes candidate c from the c-th value of every list. A
// random search draws parameter p of candidate c from its own stream (seed, Purpose::search, c, p).
std::vector<std::vector<Value>> grid_candidates(const std::vector<Space>& spaces);
std::vector<std::vector<Value>> list_candidates(const std::vector<Space>& spaces);
std::vector<std::vector<Value>> random_candidates(const std::vector<Space>& spaces, uint32_t count, uint64_t seed);

// Returns which parameters count in a candidate. A condition on a parameter that does not count does not hold.
std::vector<bool> counting(const std::vector<Space>& spaces, const std::vector<Value>& candidate);
// Gives parameters that do not count in a candidate their other value.
void apply_conditions(const std::vector<Space>& spaces, std::vector<Value>& candidate);

}  // namespace mokume::search
