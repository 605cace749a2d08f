#include "config/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/files.hpp"
#include "base/plural.hpp"
#include "config/resolved.hpp"
#include "sdk/error.hpp"
#include "search/published_draws.hpp"

namespace mokume::config {
namespace {

// This must change whenever the same config would produce a different plan.
constexpr const char* kPlanFormat = "mokume-plan-1";

// Throws Error(MK_INVALID_ARGUMENT) if the plan has more than 2^32 - 1 fits, including refits.
void check_fits(uint64_t candidates, uint64_t bootstraps, uint64_t folds) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (candidates > kMost || candidates * bootstraps > kMost || candidates * bootstraps * folds + bootstraps > kMost)
    throw Error(MK_INVALID_ARGUMENT,
                "the plan has more than 2^32 - 1 fits; shorten a list or use fewer folds or bootstraps");
}

uint32_t own_candidates(const Config& config) {
  const bool own = config.method == "random" || config.method == "list";
  return config.bootstraps > 0 && own ? config.n_candidates : 0;
}

std::vector<std::vector<search::Value>> drawn_candidates(const Config& config, uint32_t bootstraps, int64_t rows) {
  check_fits(config.n_candidates, bootstraps, uint64_t{config.folds} * config.repeats * config.rungs);
  if (config.random_compat == "numpy") {
    std::vector<std::vector<search::Value>> all;
    for (search::BootstrapDraws& one :
         search::published_draws(config.seed_text, bootstraps, config.n_candidates, config.spaces, rows, config.folds))
      for (auto& candidate : one.candidates) all.push_back(std::move(candidate));
    return all;
  }
  return search::random_candidates(config.spaces, config.n_candidates * bootstraps, config.seed);
}

std::vector<std::vector<search::Value>> listed_candidates(const Config& config) {
  std::vector<std::vector<search::Value>> all = search::list_candidates(config.spaces);
  const uint64_t wanted = uint64_t{own_candidates(config)} * config.bootstraps;
  if (wanted > 0 && wanted != all.size())
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format("[search.params] lists {} candidates, but {} bootstraps take {} each: list {} values of every "
                    "parameter",
                    all.size(), config.bootstraps, config.n_candidates, wanted));
  return all;
}

std::vector<std::vector<search::Value>> candidates_of(const Config& config, uint32_t bootstraps, int64_t rows) {
  if (config.method == "none") return search::grid_candidates({});
  if (config.spaces.empty())
    throw Error(MK_INVALID_ARGUMENT, "there is nothing to search: [search.params] has no parameters");
  if (config.method == "random") {
    std::vector<std::vector<search::Value>> drawn = drawn_candidates(config, bootstraps, rows);
    for (std::vector<search::Value>& candidate : drawn) search::apply_conditions(config.spaces, candidate);
    return drawn;
  }
  return config.method == "list" ? listed_candidates(config) : search::grid_candidates(config.spaces);
}

}  // namespace

search::Plan make_plan(const Config& config, const std::string& data_sha256, int64_t rows) {
  search::Plan plan;
  plan.repeats = config.repeats * config.rungs;  // one of the two is 1
  plan.folds = config.folds * plan.repeats;
  plan.factor = config.rungs > 1 || !config.whole ? config.factor : 0;
  plan.whole = config.whole;
  plan.bootstraps = std::max(1U, config.bootstraps);
  plan.own_candidates = own_candidates(config);
  plan.trials = config.trials;
  plan.candidates = candidates_of(config, plan.bootstraps, rows);
  if (plan.candidates.empty()) throw Error(MK_INVALID_ARGUMENT, "the search has no candidates; set search.candidates");
  if (plan.trials > plan.candidates_per_bootstrap())
    throw Error(MK_INVALID_ARGUMENT,
                fmt::format("search.trials is {}, but there are {}: set a smaller number, or remove it", plan.trials,
                            base::counted(plan.candidates_per_bootstrap(), "candidate")));
  check_fits(plan.candidates.size(), plan.own_candidates > 0 ? 1 : plan.bootstraps, plan.folds);
  for (const search::Space& space : config.spaces) plan.params.push_back(space.name);
  const auto has_conditions = [](const search::Space& space) { return !space.when.empty(); };
  if (std::any_of(config.spaces.begin(), config.spaces.end(), has_conditions))
    for (const auto& candidate : plan.candidates) plan.counting.push_back(search::counting(config.spaces, candidate));
  plan.hash = base::sha256(canonical_json(config) + "\n" + data_sha256 + "\n" + kPlanFormat);
  return plan;
}

}  // namespace mokume::config
