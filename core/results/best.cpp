#include "results/best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::results {

std::string score_spread(const std::string& metric, double value) {
  return pretty(metric == "error" ? 100 * value : value, 3);
}

std::string score_text(const std::string& metric, double value) {
  return metric == "error" ? pretty(100 * value) + " %" : pretty(value);
}

nlohmann::ordered_json params_json(const search::Plan& plan, uint32_t candidate) {
  auto params = nlohmann::ordered_json::object();
  const auto& values = plan.candidates.at(candidate);
  for (size_t p = 0; p < std::min(plan.params.size(), values.size()); ++p)
    std::visit([&](const auto& value) { params[plan.params[p]] = value; }, values[p]);
  return params;
}

BestSoFar::BestSoFar(const search::Plan& plan, const std::vector<Metric>& metrics) : plan_(plan), metrics_(metrics) {}

bool BestSoFar::add(const journal::FitRecord& record) {
  const auto value = value_of(&record, selecting_metric(metrics_));
  if (!value || plan_.is_refit(record.fit)) return false;
  const search::FitKey key = plan_.key(record.fit);
  const uint32_t rung = plan_.rung_of(record.fit);
  const auto group = values_.try_emplace({key.bootstrap, key.candidate, rung}).first;
  group->second[key.fold] = *value;
  if (group->second.size() < plan_.folds_in_rung()) return false;
  std::vector<double> values;
  for (const auto& [fold, one] : group->second) values.push_back(one);
  values_.erase(group);
  const double mean = moments(values).mean;
  const Metric& metric = metrics_[*selecting_metric(metrics_)];
  const auto order = [&](const Best& one) {
    return std::tuple(-static_cast<int64_t>(one.rung), metric.loss(one.mean), one.candidate);
  };
  const Best found{key.candidate, mean, rung};
  const bool better = !best_ || order(found) < order(*best_);
  if (better) best_ = found;
  return better;
}

std::string BestSoFar::metric() const {
  const auto metric = selecting_metric(metrics_);
  return metric ? metrics_[*metric].name : "";
}

std::string BestSoFar::text() const {
  if (!best_) return "";
  const std::string params = pretty_params(plan_, best_->candidate);
  return fmt::format("{} {}{}", metric(), score_text(metric(), best_->mean), params.empty() ? "" : " with " + params);
}

BestSoFar best_so_far(const RunView& view) {
  BestSoFar best(view.plan, view.metrics);
  for (const journal::FitRecord& record : view.records) best.add(record);
  return best;
}

}  // namespace mokume::results
