#include "report/charts/confusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/charts/style.hpp"
#include "report/charts/svg.hpp"
#include "results/class_scores.hpp"
#include "results/format.hpp"

namespace mokume::report {
namespace {

constexpr double kMatrixTop = 86, kMostSide = 560, kLabelSide = 11;
constexpr size_t kLongestClass = 18;

struct Grid {
  double cell = 0, left = 0, right = 0, bottom = 0;
  bool labelled = false;

  Grid(const std::vector<std::string>& names) {
    const auto count = static_cast<double>(names.size());
    cell = std::clamp(std::floor(kMostSide / count), 5.0, 48.0);
    labelled = cell >= kLabelSide;
    double widest = 0;
    for (const std::string& name : names) widest = std::max(widest, text_width(results::elide(name, kLongestClass)));
    left = 40 + (labelled ? widest : 0);
    right = left + cell * count;
    bottom = kMatrixTop + cell * count;
  }
  double x_of(size_t column) const { return left + cell * static_cast<double>(column); }
  double y_of(size_t row) const { return kMatrixTop + cell * static_cast<double>(row); }
};

void draw_cell(Svg& svg, const Grid& grid, const data::Confusion& confusion, const std::vector<std::string>& names,
               size_t truth, size_t predicted) {
  const int64_t count = confusion.at(truth, predicted), rows = confusion.rows_of(truth);
  const double x = grid.x_of(predicted), y = grid.y_of(truth);
  const double side = grid.cell - (grid.cell >= 8 ? 1 : 0);
  if (count == 0) return svg.rect(x, y, side, side, "blank");
  const double share = static_cast<double>(count) / static_cast<double>(rows);
  // The square root separates rare mistakes, which interest the reader most.
  const Colour colour = colour_scale(1 - 0.9 * std::sqrt(share));
  svg.rect(x, y, side, side, {},
           fmt::format("{} of {} rows of {} predicted as {}", results::grouped(static_cast<uint64_t>(count)),
                       results::grouped(static_cast<uint64_t>(rows)), results::elide(names[truth], 60),
                       results::elide(names[predicted], 60)),
           colour.hex());
  const std::string text = std::to_string(count);
  if (grid.cell >= 14 && grid.cell >= text_width(text, 9) + 2)
    svg.text(x + side / 2, y + grid.cell / 2 + 3, text, colour.light() ? "small mid onlight" : "small mid ondark");
}

void draw_labels(Svg& svg, const Grid& grid, const std::vector<std::string>& names, double below) {
  svg.text(grid.left, kMatrixTop - 10, "rows: class; columns: predicted class");
  if (!grid.labelled) return;
  const bool upright =
      std::all_of(names.begin(), names.end(), [&](const auto& name) { return text_width(name) <= grid.cell; });
  for (size_t c = 0; c < names.size(); ++c) {
    const std::string name = results::elide(names[c], kLongestClass);
    svg.text(grid.left - 6, grid.y_of(c) + grid.cell / 2 + 4, name, "end strong");
    if (upright)
      svg.text(grid.x_of(c) + grid.cell / 2, grid.bottom + 16, name, "mid strong");
    else
      svg.text_up(grid.x_of(c) + grid.cell / 2 + 4, grid.bottom + below - 8, name, "strong");
  }
}

}  // namespace

std::vector<NamedFile> confusion_plot(const results::RunView& view) {
  const results::ResultByClass by_class = results::result_by_class(view);
  const results::TestResult* const result = by_class.result;
  if (result == nullptr) return {};
  const char* const rows = by_class.rows_text();
  const data::Confusion& confusion = *result->confusion;
  const std::vector<std::string> names = results::class_names(view);
  const Grid grid(names);
  double below = 16;
  if (grid.labelled)
    for (const std::string& name : names) below = std::max(below, 20 + text_width(results::elide(name, kLongestClass)));
  const std::string caption = fmt::format("{} {} rows, {} wrong", results::grouped(static_cast<uint64_t>(result->n)),
                                          rows, results::grouped(static_cast<uint64_t>(result->errors)));
  Svg svg(std::max(grid.right + 24, 300.0), grid.bottom + below + 8,
          fmt::format("Confusion matrix of the {} rows; {}", rows, caption), "Confusion matrix", caption);
  for (size_t truth = 0; truth < confusion.classes; ++truth)
    for (size_t predicted = 0; predicted < confusion.classes; ++predicted)
      draw_cell(svg, grid, confusion, names, truth, predicted);
  draw_labels(svg, grid, names, below);
  return {{kConfusionPlot, std::move(svg).finish()}};
}

}  // namespace mokume::report
