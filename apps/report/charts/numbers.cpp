#include "report/charts/numbers.hpp"

#include <fmt/format.h>

#include "report/charts/axes.hpp"
#include "report/charts/svg.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

struct Scatter {
  static constexpr double kLeft = 78, kRight = 478, kTop = 62, kBottom = 462, kWidth = 502, kHeight = 512;
};
constexpr double kPointRadius = 2;

struct ScatterAxes {
  Scale x, y;

  ScatterAxes(const results::Extent& of_x, const results::Extent& of_y)
      : x(make_scale(of_x.low, of_x.high, false, 0.05, Scatter::kLeft, Scatter::kRight)),
        y(make_scale(of_y.low, of_y.high, false, 0.05, Scatter::kBottom, Scatter::kTop)) {}

  void draw(Svg& svg, const char* x_title, const char* y_title) const {
    bottom_axis(svg, x, Scatter::kBottom, Scatter::kTop, ticks(x, 6), x_title);
    left_axis(svg, y, Scatter::kLeft, Scatter::kRight, ticks(y, 6), y_title);
  }
};

std::string scatter_caption(const results::TestResult& result) {
  const std::string rows = results::counted(static_cast<uint64_t>(result.n), "validated row");
  const auto drawn = static_cast<int64_t>(result.points.size());
  return drawn < result.n ? fmt::format("{} of {}", results::grouped(result.points.size()), rows) : rows;
}

std::string predicted_plot(const results::TestResult& result) {
  results::Extent both;
  for (const results::PredictedNumber& one : result.points) both.add(one.target), both.add(one.predicted);
  const std::string caption = scatter_caption(result) + "; the line is where both are equal";
  Svg svg(Scatter::kWidth, Scatter::kHeight, "Predicted over true numbers; " + caption, "Predicted and true numbers",
          caption);
  const ScatterAxes axes(both, both);
  axes.draw(svg, "true number", "predicted number");
  svg.line(axes.x.at(both.low), axes.y.at(both.low), axes.x.at(both.high), axes.y.at(both.high), "gap");
  svg.open("box");
  for (const results::PredictedNumber& one : result.points)
    svg.circle(axes.x.at(one.target), axes.y.at(one.predicted), kPointRadius);
  svg.close();
  return std::move(svg).finish();
}

std::string residuals_plot(const results::TestResult& result) {
  results::Extent predicted, residuals;
  residuals.add(0);
  for (const results::PredictedNumber& one : result.points)
    predicted.add(one.predicted), residuals.add(one.target - one.predicted);
  const std::string caption = scatter_caption(result) + "; a pattern shows what is not learned";
  Svg svg(Scatter::kWidth, Scatter::kHeight, "Residuals over predicted numbers; " + caption, "Residuals", caption);
  const ScatterAxes axes(predicted, residuals);
  axes.draw(svg, "predicted number", "true - predicted number");
  svg.line(Scatter::kLeft, axes.y.at(0), Scatter::kRight, axes.y.at(0), "gap");
  svg.open("box");
  for (const results::PredictedNumber& one : result.points)
    svg.circle(axes.x.at(one.predicted), axes.y.at(one.target - one.predicted), kPointRadius);
  svg.close();
  return std::move(svg).finish();
}

}  // namespace

std::vector<NamedFile> number_plots(const results::RunView& view) {
  if (!view.validated || view.validated->points.empty()) return {};
  return {{kPredictedPlot, predicted_plot(*view.validated)}, {kResidualsPlot, residuals_plot(*view.validated)}};
}

}  // namespace mokume::report
