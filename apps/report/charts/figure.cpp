#include "report/charts/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace mokume::report {
namespace {

// If an axis has at most this many values, its ticks show the values themselves, which matter more than round numbers.
constexpr size_t kFewValues = 8;

using Candidate = std::vector<search::Value>;

template <class T>
bool holds(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::optional<double> number_of(const Candidate& candidate, size_t param) {
  if (param >= candidate.size()) return std::nullopt;
  if (const auto* real = std::get_if<double>(&candidate[param])) return *real;
  if (const auto* integer = std::get_if<int64_t>(&candidate[param])) return *integer;
  return std::nullopt;
}

std::string text_of(const Candidate& candidate, size_t param) {
  return param < candidate.size() ? search::to_text(candidate[param]) : "";
}

// Returns the parameter as an axis, or nothing if it has only one value or if a value is missing, no number or huge.
std::optional<Axis> axis_of(const search::Plan& plan, size_t param) {
  std::set<double> values;
  for (const Candidate& candidate : plan.candidates) {
    const auto number = number_of(candidate, param);
    if (!number || !(std::abs(*number) <= 1e100)) return std::nullopt;
    values.insert(*number);
  }
  if (values.size() < 2) return std::nullopt;
  return Axis{param, results::elide(plan.params[param], 40), {values.begin(), values.end()}};
}

std::vector<Group> group_by(const search::Plan& plan, std::vector<size_t> axes) {
  std::vector<size_t> varying;
  for (size_t p = 0; p < plan.params.size(); ++p) {
    const auto same = [&](const Candidate& one) { return text_of(one, p) == text_of(plan.candidates.front(), p); };
    if (holds(axes, p)) continue;
    (std::all_of(plan.candidates.begin(), plan.candidates.end(), same) ? axes : varying).push_back(p);
  }
  std::vector<Group> groups;
  std::map<std::vector<std::string>, size_t> known;
  for (size_t c = 0; c < plan.candidates.size(); ++c) {
    std::vector<std::string> key;
    for (const size_t p : varying) key.push_back(text_of(plan.candidates[c], p));
    const auto [found, fresh] = known.emplace(std::move(key), groups.size());
    if (fresh) groups.push_back({results::pretty_params(plan, c, axes), {}});
    groups[found->second].candidates.push_back(c);
  }
  return groups;
}

bool spans_two_decades(const std::vector<double>& values) {
  return values.front() > 0 && values.back() / values.front() >= 99.999;
}

bool evenly_spaced(const std::vector<double>& values, bool log) {
  const auto distance = [&](double a, double b) { return log ? std::log(b) - std::log(a) : b - a; };
  const double step = distance(values.front(), values.back()) / (values.size() - 1);
  for (size_t i = 1; i < values.size(); ++i)
    if (!(std::abs(distance(values[i - 1], values[i]) - step) < 0.05 * step)) return false;
  return true;
}

std::vector<Tick> value_ticks(const std::vector<double>& values, bool by_index) {
  std::vector<Tick> result;
  for (size_t i = 0; i < values.size(); ++i)
    result.push_back({by_index ? i : values[i], results::pretty(values[i], 3)});
  return result;
}

}  // namespace

Figure::Figure(const results::RunView& source) : view(source), pooled(results::pool(source)) {
  if (const auto metric = results::selecting_metric(view.metrics)) {
    unit = results::unit_of(view.metrics[*metric]);
    larger = view.metrics[*metric].larger;
  }
  if (view.best && *view.best < pooled.size()) best = *view.best;
  if (pooled.empty()) return;
  for (size_t p = 0; p < view.plan.params.size(); ++p)
    if (auto axis = axis_of(view.plan, p)) numeric.push_back(std::move(*axis));
  std::vector<Axis> chosen = numeric;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Axis& a, const Axis& b) { return a.values.size() > b.values.size(); });
  if (chosen.size() > 2) chosen.resize(2);
  std::sort(chosen.begin(), chosen.end(), [](const Axis& a, const Axis& b) { return a.param < b.param; });
  std::vector<size_t> axes;
  for (const Axis& axis : chosen) axes.push_back(axis.param);
  groups = group_by(view.plan, axes);
  if (!chosen.empty()) x = chosen[0];
  if (chosen.size() < 2) return;
  y = chosen[1];
  const double cells = 1.0 * x->values.size() * y->values.size();
  surface = 2 * pooled.size() >= cells * groups.size();
}

double Figure::number(size_t candidate, const Axis& axis) const {
  return number_of(view.plan.candidates[candidate], axis.param).value_or(0);
}

std::vector<size_t> Figure::ranking(size_t most) const {
  std::vector<size_t> order(pooled.size());
  for (size_t c = 0; c < order.size(); ++c) order[pooled[c].rank - 1] = c;
  if (view.plan.trials > 0)
    std::erase_if(order, [&](size_t c) { return !pooled[c].complete && pooled[c].failed == 0; });
  order.resize(std::min(order.size(), most));
  return order;
}

std::optional<size_t> Figure::leader(const std::vector<size_t>& candidates) const {
  std::optional<size_t> first;
  for (const size_t c : candidates)
    if (pooled[c].complete && (!first || pooled[c].rank < pooled[*first].rank)) first = c;
  return first;
}

std::optional<size_t> Figure::marked(const std::vector<size_t>& candidates) const {
  return best && holds(candidates, *best) && pooled[*best].complete ? best : leader(candidates);
}

size_t Figure::box_panel_count() const {
  if (!x) return 0;
  if (!y) return groups.size();
  return surface ? groups.size() * y->values.size() : numeric.size();
}

std::vector<BoxPanel> Figure::box_panels() const {
  std::vector<BoxPanel> panels;
  if (!x) return panels;
  const auto add = [&](const Axis& named, const std::string& title, const Axis& axis, std::vector<size_t> candidates) {
    const std::string file = safe_name("plots/box-", named.name.empty() ? "param" : named.name);
    panels.push_back({fmt::format("{}-{}.svg", file, panels.size()), title, axis, std::move(candidates)});
  };
  if (y && !surface) {
    std::vector<size_t> all(pooled.size());
    std::iota(all.begin(), all.end(), size_t{0});
    for (const Axis& axis : numeric) add(axis, "", axis, all);
  } else {
    for (const Group& group : groups) {
      if (!y) {
        add(*x, group.title, *x, group.candidates);
        continue;
      }
      std::map<double, std::vector<size_t>> rows;
      for (const size_t c : group.candidates) rows[number(c, *y)].push_back(c);
      const std::string rest = group.title.empty() ? "" : ", " + group.title;
      for (const double value : y->values)
        if (!rows[value].empty())
          add(*y, fmt::format("{} = {}{}", y->name, results::pretty(value), rest), *x, rows[value]);
    }
  }
  if (panels.size() <= kMaxBoxPlots) return panels;
  std::vector<std::pair<uint32_t, size_t>> order;
  for (size_t i = 0; i < panels.size(); ++i) {
    const auto first = leader(panels[i].candidates);
    order.emplace_back(first ? pooled[*first].rank : std::numeric_limits<uint32_t>::max(), i);
  }
  std::sort(order.begin(), order.end());
  order.resize(kMaxBoxPlots);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<BoxPanel> kept;
  for (const auto& [rank, i] : order) kept.push_back(std::move(panels[i]));
  return kept;
}

std::string Figure::hover(size_t candidate) const {
  const results::CandidateRow& row = pooled[candidate];
  std::string text = results::pretty_params(view.plan, candidate);
  if (!text.empty()) text += '\n';
  if (view.plan.rungs() > 1) text += fmt::format("rung {}, ", row.rung);
  if (row.complete)
    return text + fmt::format("mean {} ± {}, n = {}", unit.text(row.mean), unit.spread(row.sd), row.values.size());
  text += fmt::format("{} of {} fits have a value", row.values.size(), row.values.size() + row.failed + row.missing);
  return row.failed > 0 ? text + fmt::format(", {} failed", row.failed) : text;
}

std::string Figure::fits_text() const {
  const bool shared = view.plan.bootstraps > 1 && view.plan.own_candidates == 0;
  const std::string text = shared ? fmt::format("{} bootstraps × ", view.plan.bootstraps) : "";
  const search::Plan& plan = view.plan;
  const bool repeats = plan.repeats > plan.rungs();
  const std::string repeated = repeats ? fmt::format("{} repeats × ", plan.repeats) : "";
  const char* const which = plan.rungs() > 1 ? " of the last rung reached" : "";
  return text + repeated + fmt::format("{} fold{}{}", plan.folds_each(), plan.folds_each() == 1 ? "" : "s", which);
}

std::string safe_name(std::string prefix, const std::string& name) {
  for (const char c : name.substr(0, 40)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    prefix += plain ? c : '-';
  }
  return prefix;
}

size_t index_of(const std::vector<double>& ascending, double value) {
  return static_cast<size_t>(std::lower_bound(ascending.begin(), ascending.end(), value) - ascending.begin());
}

double Positions::at(double value) const { return scale.at(by_index ? index_of(values, value) : value); }

Positions positions_of(const Axis& axis, double from, double to, double least_pitch) {
  const std::vector<double>& values = axis.values;
  const double count = values.size();
  const double room = std::min(0.5 / count, 0.08) + 0.02;
  Positions positions;
  positions.values = values;
  positions.scale = make_scale(values.front(), values.back(), spans_two_decades(values), room, from, to);
  positions.pitch = to - from;
  for (size_t i = 1; i < values.size(); ++i)
    positions.pitch = std::min(positions.pitch, positions.at(values[i]) - positions.at(values[i - 1]));
  positions.title = axis.name + (positions.scale.log ? " (log scale)" : "");
  if (positions.pitch < least_pitch && (to - from) / count >= least_pitch) {
    positions.by_index = true;
    positions.scale = make_scale(0, count - 1, false, room, from, to);
    positions.pitch = (to - from) / count;
    positions.title = axis.name + " (values in order)";
  }
  const bool named = positions.by_index || values.size() <= kFewValues;
  positions.ticks = named ? value_ticks(values, positions.by_index) : ticks(positions.scale, 7);
  return positions;
}

Positions cells_of(const Axis& axis, double from, double pitch) {
  const std::vector<double>& values = axis.values;
  const double last = values.size() - 1;
  const bool log = spans_two_decades(values);
  const Scale scale{false, 0, last, from + pitch / 2, from + pitch * (last + 0.5)};
  Positions positions{scale, true, values, value_ticks(values, true), pitch, axis.name};
  if (values.size() <= kFewValues || !evenly_spaced(values, log)) return positions;
  // The ticks are at round values of the true scale, mapped to the cells.
  const Scale true_scale{log, values.front(), values.back(), 0, last};
  positions.title += log ? " (log scale)" : "";
  positions.ticks = ticks(true_scale, 7);
  for (Tick& tick : positions.ticks) tick.value = true_scale.at(tick.value);
  return positions;
}

}  // namespace mokume::report
