#include "report/charts/axes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "results/format.hpp"

namespace mokume::report {
namespace {

constexpr size_t kMaxPoints = 30;

double step_of(double range, int wanted) {
  const double rough = range / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double head = rough / power;
  return power * (head <= 1 ? 1 : head <= 2 ? 2 : head <= 5 ? 5 : 10);
}

std::vector<Tick> linear_ticks(const Scale& scale, int wanted) {
  std::vector<Tick> result;
  const double step = step_of(scale.high - scale.low, wanted);
  const double first = std::ceil(scale.low / step - 1e-9);
  const double count = std::floor(scale.high / step + 1e-9) - first;
  if (!std::isfinite(first) || !(count >= 0) || count > 50) return result;
  for (int i = 0; i <= static_cast<int>(count); ++i) {
    const double value = (first + i) * step;
    result.push_back({value, results::pretty(std::abs(value) < 1e-9 * step ? 0 : value, 5)});
  }
  return result;
}

// Returns 1, 2 and 5 times the powers of ten, for an axis of less than two decades.
std::vector<Tick> short_log_ticks(const Scale& scale, int low, int high) {
  std::vector<Tick> result;
  for (int e = low - 1; e <= high + 1; ++e) {
    for (const int head : {1, 2, 5}) {
      const double value = head * std::pow(10.0, e);
      if (value >= scale.low && value <= scale.high) result.push_back({value, results::pretty(value)});
    }
  }
  return result;
}

std::vector<Tick> log_ticks(const Scale& scale, int wanted) {
  const int low = static_cast<int>(std::ceil(std::log10(scale.low) - 1e-9));
  const int high = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  if (scale.high / scale.low < 100) {
    auto result = short_log_ticks(scale, low, high);
    return result.size() >= 3 ? result : linear_ticks(scale, wanted);
  }
  const int stride = (high - low) / std::max(1, wanted) + 1;
  const bool plain = low >= -3 && high <= 4;
  std::vector<Tick> result;
  for (int e = low - 1; e <= high; ++e) {
    const double power = std::pow(10.0, e);
    const bool labelled = (e - low) % stride == 0;
    if (e >= low)
      result.push_back({power,
                        !labelled ? ""
                        : plain   ? results::pretty(power)
                                  : "10",
                        labelled && !plain ? std::to_string(e) : ""});
    for (int head = 2; high - low <= 5 && head <= 9; ++head) {
      const double value = head * power;
      if (value >= scale.low && value <= scale.high) result.push_back({value});
    }
  }
  return result;
}

}  // namespace

double Scale::at(double value) const {
  const double share = log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

Scale make_scale(double low, double high, bool log, double margin, double from, double to) {
  Scale scale{log && low > 0 && std::isfinite(high / low), low, high, from, to};
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(high - low > 1e-9 * size)) {  // gives a single value some room
    const double room = size > 0 ? 0.05 * size : 1;
    scale.low = low - room, scale.high = high + room;
    if (size < 1e-290) scale.low = low - 1, scale.high = high + 1, scale.log = false;
  }
  if (scale.log) {
    const double factor = std::pow(scale.high / scale.low, margin);
    scale.low /= factor, scale.high *= factor;
  } else {
    const double room = margin * (scale.high - scale.low);
    scale.low -= room, scale.high += room;
  }
  return scale;
}

Scale value_scale(const results::Extent& extent, bool log, double from, double to) {
  if (extent.empty()) return value_scale({0, 1}, false, from, to);
  Scale scale = make_scale(extent.low, extent.high, log, 0.05, from, to);
  if (!scale.log && extent.low >= 0) scale.low = std::max(0.0, scale.low);
  return scale;
}

std::vector<Tick> ticks(const Scale& scale, int wanted) {
  return scale.log ? log_ticks(scale, wanted) : linear_ticks(scale, wanted);
}

void bottom_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
                 std::string_view title) {
  for (const Tick& tick : ticks)
    if (grid_to < at) svg.line(scale.at(tick.value), grid_to, scale.at(tick.value), at, "grid");
  svg.line(scale.from, at, scale.to, at, "axis");
  double taken = -std::numeric_limits<double>::infinity();
  for (const Tick& tick : ticks) {
    const double x = scale.at(tick.value);
    svg.line(x, at, x, at + (tick.label.empty() ? 3 : 5), "axis");
    const double half = text_width(tick.label + tick.exponent) / 2;
    if (tick.label.empty() || x - half < taken + 4) continue;
    svg.text(x, at + 17, tick.label, "mid", tick.exponent);
    taken = x + half;
  }
  svg.text(scale.middle(), at + 40, title, "mid strong");
}

void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
               std::string_view title) {
  double taken = std::numeric_limits<double>::infinity();
  double widest = 0;
  for (const Tick& tick : ticks) {
    const double y = scale.at(tick.value);
    if (!tick.label.empty() && grid_to > at) svg.line(at, y, grid_to, y, "grid");
    const bool labelled = !tick.label.empty() && y <= taken - 13;
    svg.line(at - (labelled ? 5 : 3), y, at, y, "axis");
    if (!labelled) continue;
    svg.text(at - 8, y + 4, tick.label, "end", tick.exponent);
    taken = y;
    widest = std::max(widest, text_width(tick.label) + text_width(tick.exponent, 8));
  }
  svg.line(at, scale.from, at, scale.to, "axis");
  svg.text_up(std::min(16.0, at - 14 - widest), scale.middle(), title, "mid strong");
}

void draw_box(Svg& svg, const results::Box& box, const Scale& scale, double centre, double width, bool upright) {
  const auto line = [&](double from, double to, double side, const char* classes) {
    if (upright)
      svg.line(centre - side, from, centre + side, to, classes);
    else
      svg.line(from, centre - side, to, centre + side, classes);
  };
  const double low = scale.at(box.low), high = scale.at(box.high), median = scale.at(box.median);
  const double q1 = scale.at(box.q1), q3 = scale.at(box.q3);
  line(low, q1, 0, "whisker");
  line(q3, high, 0, "whisker");
  line(low, low, width / 4, "whisker");
  line(high, high, width / 4, "whisker");
  if (upright)
    svg.rect(centre - width / 2, q3, width, q1 - q3);
  else
    svg.rect(q1, centre - width / 2, q3 - q1, width);
  line(median, median, width / 2, "median");
}

void draw_points(Svg& svg, const std::vector<double>& values, const Scale& scale, double centre, double width,
                 bool upright) {
  const results::Box box = results::box_of(values);
  const double n = values.size();
  const double step = n > 1 ? 0.6 * width / (n - 1) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool outside = values[i] < box.low || values[i] > box.high;
    if (values.size() > kMaxPoints && !outside) continue;
    const double along = scale.at(values[i]), across = centre + (i - (n - 1) / 2) * step;
    svg.circle(upright ? across : along, upright ? along : across, width < 10 ? 1.3 : 1.8);
  }
}

}  // namespace mokume::report
