#include "report/charts/learning_curve.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/charts/axes.hpp"
#include "report/charts/svg.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

struct CurveOverRows {
  static constexpr double kLeft = 78, kRight = 580, kTop = 62, kBottom = 322, kWidth = 604, kHeight = 372;
};
constexpr double kLargestScore = 1e100;

bool is_drawable(const results::LearningCurve::Point& point) {
  return point.rows > 0 && std::abs(point.mean) <= kLargestScore && std::abs(point.sd) <= kLargestScore;
}

}  // namespace

std::vector<NamedFile> learning_curve(const results::RunView& view) {
  if (!view.curve) return {};
  const results::Unit unit = results::unit_of(results::Metric{view.curve->metric});
  std::vector<results::LearningCurve::Point> points;
  results::Extent rows, values;
  for (const results::LearningCurve::Point& one : view.curve->points) {
    if (!is_drawable(one)) continue;
    points.push_back({one.rows, unit.factor * one.mean, unit.factor * one.sd});
    rows.add(static_cast<double>(one.rows));
    values.add(points.back().mean - points.back().sd);
    values.add(points.back().mean + points.back().sd);
  }
  if (points.size() < 2) return {};
  const std::string caption = "mean and sd over the folds of the best candidate";
  Svg svg(CurveOverRows::kWidth, CurveOverRows::kHeight, "Learning curve; " + caption, "Learning curve", caption);
  const Scale x = make_scale(rows.low, rows.high, true, 0.05, CurveOverRows::kLeft, CurveOverRows::kRight);
  const Scale y = value_scale(values, false, CurveOverRows::kBottom, CurveOverRows::kTop);
  bottom_axis(svg, x, CurveOverRows::kBottom, CurveOverRows::kTop, ticks(x, 8), "training rows");
  left_axis(svg, y, CurveOverRows::kLeft, CurveOverRows::kRight, ticks(y, 6), results::elide(unit.title, 40));
  std::string path;
  for (const results::LearningCurve::Point& one : points)
    path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', coordinate(x.at(static_cast<double>(one.rows))),
                        coordinate(y.at(one.mean)));
  svg.open("curve k0");
  svg.path(path, "");
  for (const results::LearningCurve::Point& one : points) {
    const double at = x.at(static_cast<double>(one.rows));
    svg.line(at, y.at(one.mean - one.sd), at, y.at(one.mean + one.sd));
    svg.circle(at, y.at(one.mean), 3);
  }
  svg.close();
  return {{kLearningCurve, std::move(svg).finish()}};
}

}  // namespace mokume::report
