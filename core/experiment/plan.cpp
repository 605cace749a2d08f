#include <limits>

#include "base/files.hpp"
#include "experiment/config.hpp"
#include "sdk/error.hpp"

namespace mokume::experiment {
namespace {

// Changes whenever the same config would make another plan.
constexpr const char* kPlanFormat = "mokume-plan-1";

void check_fits(uint64_t candidates, uint32_t folds) {
  if (candidates * folds > std::numeric_limits<uint32_t>::max())
    throw Error(MK_INVALID_ARGUMENT, "the plan has more than 2^32 - 1 fits; shorten a list or use fewer folds");
}

std::vector<std::vector<search::Value>> candidates_of(const Config& config) {
  if (config.method == "none") return search::grid_candidates({});
  if (config.spaces.empty())
    throw Error(MK_INVALID_ARGUMENT, "there is nothing to search: [search.params] names no parameter");
  check_fits(config.random_candidates, config.folds);
  if (config.method == "random") return search::random_candidates(config.spaces, config.random_candidates, config.seed);
  return search::grid_candidates(config.spaces);
}

}  // namespace

search::Plan make_plan(const Config& config, const std::string& data_sha256) {
  search::Plan plan;
  plan.folds = config.folds;
  plan.candidates = candidates_of(config);
  if (plan.candidates.empty())
    throw Error(MK_INVALID_ARGUMENT, "the search makes no candidates; set search.candidates");
  check_fits(plan.candidates.size(), plan.folds);
  for (const search::Space& space : config.spaces) plan.params.push_back(space.name);
  plan.hash = base::sha256(canonical_json(config) + "\n" + data_sha256 + "\n" + kPlanFormat);
  return plan;
}

}  // namespace mokume::experiment
