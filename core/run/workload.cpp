#include "run/workload.hpp"

#include <algorithm>
#include <cmath>

namespace mokume::run {
namespace {

// Returns 0 for every text.
double number_of(const search::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return 0;
}

// Returns the distinct values of a list: numbers in ascending order, texts in file order.
std::vector<search::Value> order_of(const search::Space& space) {
  std::vector<search::Value> order;
  for (const search::Value& value : space.values)
    if (std::find(order.begin(), order.end(), value) == order.end()) order.push_back(value);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return number_of(a) < number_of(b); });
  return order;
}

double between(double value, double low, double high) {
  return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0;
}

double position_in(const search::Space& space, const std::vector<search::Value>& order, const search::Value& value) {
  switch (space.kind) {
    case search::Space::Kind::real_uniform:
    case search::Space::Kind::integer_uniform:
      return between(number_of(value), space.low, space.high);
    case search::Space::Kind::log10_uniform:
      return between(std::log10(std::max(number_of(value), std::pow(10, space.low))), space.low, space.high);
    case search::Space::Kind::integer_log:
      return between(std::log(std::max(number_of(value), space.low)), std::log(space.low), std::log(space.high));
    case search::Space::Kind::list:
      break;
  }
  const auto at = std::find(order.begin(), order.end(), value) - order.begin();
  return between(static_cast<double>(at), 0, static_cast<double>(order.size()) - 1);
}

}  // namespace

std::vector<scheduler::Position> positions_of(const search::Plan& plan, const std::vector<search::Space>& spaces) {
  std::vector<std::vector<search::Value>> orders;
  for (const search::Space& space : spaces) orders.push_back(order_of(space));
  std::vector<std::vector<double>> points;
  for (const std::vector<search::Value>& candidate : plan.candidates) {
    std::vector<double>& point = points.emplace_back();
    for (size_t p = 0; p < spaces.size() && p < candidate.size(); ++p)
      point.push_back(position_in(spaces[p], orders[p], candidate[p]));
  }
  std::vector<scheduler::Position> positions;
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) {
    const search::FitKey key = plan.key(fit);
    positions.push_back({key.bootstrap, key.fold, points[key.candidate]});
  }
  return positions;
}

double refit_factor(const config::Config& config) {
  if (config.ordered && config.share == 0) return 2;  // on average, a fit trains on half of the rows
  if (config.share > 0) return 1 / (1 - config.share);
  return config.folds > 1 ? config.folds / (config.folds - 1.0) : 1;
}

scheduler::Workload workload_of(const node::Experiment& experiment, size_t devices) {
  const search::Plan& plan = experiment.plan();
  scheduler::Workload made;
  const bool grouped = experiment.config().scales_folds();
  std::vector<uint32_t> affinity(plan.n_fits(), 0);
  const std::vector<scheduler::Bundle> coarsest = experiment.bundles(1);
  for (uint32_t b = 0; b < coarsest.size(); ++b)
    for (const uint32_t fit : coarsest[b].fits) affinity[fit] = grouped ? experiment.group_of(fit) : b;
  for (const scheduler::Bundle& bundle :
       devices >= kSeveralDevices ? experiment.bundles(std::max(1U, plan.n_fits())) : coarsest)
    made.bundles.push_back(
        {bundle.fits, bundle.cost, bundle.bytes, bundle.fits.empty() ? 0 : affinity[bundle.fits.front()]});
  made.positions = positions_of(plan, experiment.config().spaces);
  // A single refit comes after all fits and does not affect their order. The refits of several bootstraps do.
  if (plan.bootstraps > 1) made.refit_share = refit_factor(experiment.config());
  return made;
}

}  // namespace mokume::run
