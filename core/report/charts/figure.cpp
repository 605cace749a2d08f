#include "report/charts/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace mokume::report {
namespace {

std::optional<double> as_number(const search::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  return std::nullopt;
}

// The parameter as an axis: none if a value is missing, no number or no measurement.
std::optional<Axis> axis_of(const search::Plan& plan, size_t param) {
  std::set<double> values;
  for (const auto& candidate : plan.candidates) {
    const auto number = param < candidate.size() ? as_number(candidate[param]) : std::nullopt;
    if (!number || !(std::abs(*number) <= 1e100)) return std::nullopt;
    values.insert(*number);
  }
  if (values.size() < 2) return std::nullopt;
  return Axis{param, elide(plan.params[param], 40), {values.begin(), values.end()}};
}

std::string text_of(const std::vector<search::Value>& candidate, size_t param) {
  return param < candidate.size() ? search::to_text(candidate[param]) : std::string();
}

std::vector<Group> group_by(const search::Plan& plan, const std::vector<size_t>& axes) {
  std::vector<Group> groups;
  std::vector<size_t> constant = axes;  // left out of titles
  for (size_t p = 0; p < plan.params.size(); ++p) {
    const std::string first = text_of(plan.candidates.front(), p);
    const auto same = [&](const auto& candidate) { return text_of(candidate, p) == first; };
    if (std::all_of(plan.candidates.begin(), plan.candidates.end(), same)) constant.push_back(p);
  }
  std::map<std::vector<std::string>, size_t> known;
  for (size_t c = 0; c < plan.candidates.size(); ++c) {
    std::vector<std::string> key;
    for (size_t p = 0; p < plan.params.size(); ++p) {
      const bool varies = std::find(constant.begin(), constant.end(), p) == constant.end();
      if (varies) key.push_back(text_of(plan.candidates[c], p));
    }
    const auto [place, fresh] = known.emplace(std::move(key), groups.size());
    if (fresh) groups.push_back({pretty_params(plan, c, constant), {}});
    groups[place->second].candidates.push_back(c);
  }
  return groups;
}

std::string file_name(const std::string& param, size_t index) {
  std::string safe;
  for (const char c : param.substr(0, 40)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    safe += plain ? c : '-';
  }
  return fmt::format("plots/box-{}-{}.svg", safe.empty() ? "param" : safe, index);
}

bool spans_two_decades(const std::vector<double>& values) {
  return values.front() > 0 && values.back() / values.front() >= 99.999;
}

bool evenly_spaced(const std::vector<double>& values, bool log) {
  const auto coordinate_of = [&](double v) { return log ? std::log(v) : v; };
  const double step =
      (coordinate_of(values.back()) - coordinate_of(values.front())) / static_cast<double>(values.size() - 1);
  for (size_t i = 1; i < values.size(); ++i) {
    const double here = coordinate_of(values[i]) - coordinate_of(values[i - 1]);
    if (!(std::abs(here - step) < 0.05 * step)) return false;
  }
  return true;
}

std::vector<Tick> value_ticks(const std::vector<double>& values, bool by_index) {
  std::vector<Tick> result;
  for (size_t i = 0; i < values.size(); ++i) {
    result.push_back({by_index ? static_cast<double>(i) : values[i], pretty(values[i], 3), {}});
  }
  return result;
}

// Few values are named one by one: what was tried matters more than round numbers.
constexpr size_t kFewValues = 8;

}  // namespace

Figure::Figure(const RunView& source) : view(source), pooled(pool(source)) {
  const auto metric = selecting_metric(view.metrics);
  if (metric) unit = unit_of(view.metrics[*metric]);
  if (view.best && *view.best < pooled.size()) best = *view.best;
  if (pooled.empty()) return;
  for (size_t p = 0; p < view.plan.params.size(); ++p) {
    if (auto axis = axis_of(view.plan, p)) numeric.push_back(std::move(*axis));
  }
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
  const double cells = static_cast<double>(x->values.size()) * static_cast<double>(y->values.size());
  surface = 2 * static_cast<double>(pooled.size()) >= cells * static_cast<double>(groups.size());
}

double Figure::number(size_t candidate, const Axis& axis) const {
  return as_number(view.plan.candidates[candidate][axis.param]).value_or(0);
}

std::optional<size_t> Figure::leader(const std::vector<size_t>& candidates) const {
  std::optional<size_t> first;
  for (const size_t c : candidates) {
    if (pooled[c].complete && (!first || pooled[c].rank < pooled[*first].rank)) first = c;
  }
  return first;
}

std::optional<size_t> Figure::marked(const std::vector<size_t>& candidates) const {
  const bool here = best && std::find(candidates.begin(), candidates.end(), *best) != candidates.end();
  return here && pooled[*best].complete ? best : leader(candidates);
}

size_t Figure::box_panel_count() const {
  if (!x) return 0;
  if (!y) return groups.size();
  return surface ? groups.size() * y->values.size() : numeric.size();
}

std::vector<BoxPanel> Figure::box_panels() const {
  std::vector<BoxPanel> panels;
  if (!x) return panels;
  if (y && !surface) {
    std::vector<size_t> all(pooled.size());
    for (size_t c = 0; c < all.size(); ++c) all[c] = c;
    for (const Axis& axis : numeric) panels.push_back({file_name(axis.name, panels.size()), "", axis, all});
  } else {
    for (const Group& group : groups) {
      if (!y) {
        panels.push_back({file_name(x->name, panels.size()), group.title, *x, group.candidates});
        continue;
      }
      std::map<double, std::vector<size_t>> rows;
      for (const size_t c : group.candidates) rows[number(c, *y)].push_back(c);
      for (const double value : y->values) {
        std::string title = fmt::format("{} = {}", y->name, pretty(value));
        if (!group.title.empty()) title += ", " + group.title;
        panels.push_back({file_name(y->name, panels.size()), title, *x, rows[value]});
      }
    }
  }
  if (panels.size() <= kMaxBoxPlots) return panels;
  const auto key = [&](const BoxPanel& panel) {
    const auto c = leader(panel.candidates);
    return c ? pooled[*c].rank : std::numeric_limits<uint32_t>::max();
  };
  std::vector<std::pair<uint32_t, size_t>> order;
  for (size_t i = 0; i < panels.size(); ++i) order.emplace_back(key(panels[i]), i);
  std::sort(order.begin(), order.end());
  order.resize(kMaxBoxPlots);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<BoxPanel> kept;
  for (const auto& [rank, i] : order) kept.push_back(std::move(panels[i]));
  return kept;
}

std::string Figure::hover(size_t candidate) const {
  const Pooled& row = pooled[candidate];
  std::string text = pretty_params(view.plan, candidate);
  if (!text.empty()) text += '\n';
  if (row.complete) {
    text += fmt::format("mean {} ± {}, n = {}", unit.text(row.mean), unit.spread(row.sd), row.values.size());
  } else {
    text += fmt::format("{} of {} fits have a value", row.values.size(), row.values.size() + row.failed + row.missing);
    if (row.failed > 0) text += fmt::format(", {} failed", row.failed);
  }
  return text;
}

std::string Figure::fits_text() const {
  const bool shared = view.plan.bootstraps > 1 && view.plan.own_candidates == 0;
  const std::string text = shared ? fmt::format("{} bootstraps × ", view.plan.bootstraps) : "";
  return text + fmt::format("{} fold{}", view.plan.folds, view.plan.folds == 1 ? "" : "s");
}

double Placing::at(double value) const {
  if (!by_index) return scale.at(value);
  const auto found = std::lower_bound(values.begin(), values.end(), value);
  return scale.at(static_cast<double>(found - values.begin()));
}

Placing place(const Axis& axis, double from, double to, double least_pitch) {
  Placing placing;
  placing.values = axis.values;
  const bool log = spans_two_decades(axis.values);
  const size_t count = axis.values.size();
  const double room = std::min(0.5 / static_cast<double>(count), 0.08) + 0.02;
  placing.scale = make_scale(axis.values.front(), axis.values.back(), log, room, from, to);
  placing.pitch = to - from;
  for (size_t i = 1; i < count; ++i) {
    placing.pitch = std::min(placing.pitch, placing.at(axis.values[i]) - placing.at(axis.values[i - 1]));
  }
  placing.title = axis.name + (placing.scale.log ? " (log scale)" : "");
  if (placing.pitch < least_pitch && (to - from) / static_cast<double>(count) >= least_pitch) {
    placing.by_index = true;
    placing.scale = make_scale(0, static_cast<double>(count - 1), false, room, from, to);
    placing.pitch = (to - from) / static_cast<double>(count);
    placing.title = axis.name + " (values in order)";
  }
  const bool named = placing.by_index || count <= kFewValues;
  placing.ticks = named ? value_ticks(axis.values, placing.by_index) : ticks(placing.scale, 7);
  return placing;
}

Placing place_cells(const Axis& axis, double from, double pitch) {
  Placing placing;
  placing.values = axis.values;
  placing.pitch = pitch;
  placing.by_index = true;
  const double last = static_cast<double>(axis.values.size() - 1);
  const bool log = spans_two_decades(axis.values);
  placing.title = axis.name;
  const double first_at = from + pitch / 2, last_at = from + pitch * (last + 0.5);
  placing.scale = {false, 0, last, first_at, last_at};
  placing.ticks = value_ticks(axis.values, true);
  if (axis.values.size() <= kFewValues || !evenly_spaced(axis.values, log)) return placing;
  // Round values on the true scale, carried over to places.
  const Scale scale{log, axis.values.front(), axis.values.back(), 0, last};
  placing.title += log ? " (log scale)" : "";
  placing.ticks = ticks(scale, 7);
  for (Tick& tick : placing.ticks) tick.value = scale.at(tick.value);
  return placing;
}

std::vector<NamedFile> plots(const RunView& view) {
  const Figure figure(view);
  std::vector<NamedFile> files;
  if (!figure.pooled.empty() && view.plan.folds > 0 && selecting_metric(view.metrics)) {
    if (figure.surface) files = heat_maps(figure);
    if (!figure.x) files.push_back(candidate_bars(figure));
    for (NamedFile& file : box_plots(figure)) files.push_back(std::move(file));
  }
  for (NamedFile& file : curve_plots(figure)) files.push_back(std::move(file));
  for (NamedFile& file : member_plots(view)) files.push_back(std::move(file));
  return files;
}

}  // namespace mokume::report
