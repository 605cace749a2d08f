#include "run/score_names.hpp"

#include <fmt/format.h>

#include <set>

namespace mokume::run {
namespace {

std::vector<std::string> each(const char* prefix, const std::vector<std::string>& classes, const char* suffix = "") {
  std::vector<std::string> names;
  for (const std::string& name : classes) names.push_back(prefix + name + suffix);
  return names;
}

std::vector<std::string> pairs(const std::vector<std::string>& classes, bool numbered) {
  std::vector<std::string> names;
  for (size_t a = 0; a < classes.size(); ++a)
    for (size_t b = a + 1; b < classes.size(); ++b)
      names.push_back(fmt::format("decision_{}_vs_{}", classes[a], classes[b]) +
                      (numbered ? fmt::format("_{}_{}", a, b) : ""));
  return names;
}

}  // namespace

std::vector<std::string> score_names(mk_score_kind kind, const std::vector<std::string>& classes) {
  if (kind == MK_SCORES_LOG_PROBABILITIES) return each("probability_", classes);
  if (kind == MK_SCORES_ONE_VS_REST) return each("decision_", classes, "_vs_rest");
  if (kind != MK_SCORES_ONE_VS_ONE) return {};
  std::vector<std::string> names = pairs(classes, false);
  const bool distinct = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  return distinct ? names : pairs(classes, true);
}

std::vector<std::string> vote_share_names(const std::vector<std::string>& classes) {
  return each("vote_share_", classes);
}

}  // namespace mokume::run
