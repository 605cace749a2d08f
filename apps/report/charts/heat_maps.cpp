#include "report/charts/heat_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/charts/style.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

constexpr double kMapsTop = 74;
constexpr size_t kMaxCells = 16384;  // limit for all maps of a page
constexpr size_t kMaxHeatMaps = 16;

// Gives better means lighter colours, so that the eye finds the best region first.
struct Colours {
  explicit Colours(const Figure& figure) : larger(figure.larger) {
    for (const results::CandidateRow& row : figure.pooled)
      if (row.complete) means.add(row.mean);
    scale = {means.spans(10), means.low, means.high, 1, 0};
  }
  bool several() const { return means.high > means.low; }
  Colour of(double mean) const { return at(several() ? scale.at(mean) : larger ? 0 : 1); }
  // Returns the colour of the mean that lies `share` of the way from the largest mean (0) to the smallest (1).
  Colour at(double share) const { return colour_scale(larger ? 1 - share : share); }

  bool larger;  // true if a larger mean is better
  results::Extent means;
  Scale scale;
};

// Returns three digits, which fit into the cells of a 24 x 24 map.
std::string cell_text(const results::Unit& unit, double mean) {
  const double value = unit.factor * mean;
  if (unit.percent) return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  return results::pretty(value, 3);
}

struct Map {
  Map(const Figure& figure, const Group& group);

  size_t cell_of(const Figure& figure, size_t candidate) const {
    return index_of(figure.y->values, figure.number(candidate, *figure.y)) * nx +
           index_of(figure.x->values, figure.number(candidate, *figure.x));
  }
  double x_of(size_t cell) const { return left + cell_w * (cell % nx); }
  double y_of(size_t cell) const { return bottom - cell_h * (cell / nx + 1); }

  size_t nx = 0;
  double cell_w = 0, cell_h = 0, left = 48, right = 0, bottom = 0;
  std::vector<std::optional<size_t>> candidates;  // best-ranked candidate of each cell, as [y][x]
  bool any_failed = false, any_missing = false;
};

Map::Map(const Figure& figure, const Group& group) : nx(figure.x->values.size()) {
  const size_t ny = figure.y->values.size();
  cell_w = std::clamp(std::floor(744.0 / nx), 4.0, 84.0);
  cell_h = std::clamp(std::floor(600.0 / ny), 4.0, 44.0);
  double labels = 0;
  for (const Tick& tick : cells_of(*figure.y, 0, 1).ticks)
    labels = std::max(labels, text_width(tick.label) + text_width(tick.exponent, 8));
  left += labels;
  right = left + cell_w * nx;
  bottom = kMapsTop + cell_h * ny;
  candidates.resize(nx * ny);
  for (const size_t c : group.candidates) {
    auto& first = candidates[cell_of(figure, c)];
    if (!first || figure.pooled[c].rank < figure.pooled[*first].rank) first = c;
  }
  for (const auto& c : candidates)
    if (c && !figure.pooled[*c].complete) (figure.pooled[*c].failed > 0 ? any_failed : any_missing) = true;
}

void draw_legend(Svg& svg, const Colours& colours, const results::Unit& unit, double left, double bottom) {
  const double height = std::min(220.0, bottom - kMapsTop);
  const int steps = static_cast<int>(std::max(8.0, height / 4));
  svg.text(left, kMapsTop - 12, "mean " + unit.title, "strong");
  const double slice = height / steps;
  for (int i = 0; i < steps; ++i) {
    // A slight overlap hides the seams that anti-aliasing would show.
    svg.rect(left, kMapsTop + i * slice, 14, slice + (i + 1 < steps ? 0.5 : 0), {}, {},
             colours.at((i + 0.5) / steps).hex());
  }
  const results::Extent& means = colours.means;
  if (!colours.several()) return svg.text(left + 22, kMapsTop + height / 2 + 4, unit.spread(means.low), "strong");
  const bool log = colours.scale.log;
  const Scale scale{log, unit.factor * means.low, unit.factor * means.high, kMapsTop + height, kMapsTop};
  double taken = std::numeric_limits<double>::infinity();
  for (const Tick& tick : ticks(scale, height < 120 ? 3 : 5)) {
    const double y = scale.at(tick.value);
    if (tick.label.empty() || y > taken - 13) continue;
    svg.line(left + 14, y, left + 18, y, "axis");
    svg.text(left + 22, y + 4, tick.label, "", tick.exponent);
    taken = y;
  }
  svg.text(left, kMapsTop + height + 16, log ? "log scale" : "linear scale");
}

void draw_cells(Svg& svg, const Figure& figure, const Map& map, const Colours& colours) {
  double widest = 0;
  for (const results::CandidateRow& row : figure.pooled)
    if (row.complete) widest = std::max(widest, text_width(cell_text(figure.unit, row.mean), 9));
  const bool print = map.cell_h >= 14 && map.cell_w >= widest + 3;
  const double seam = map.cell_w >= 8 && map.cell_h >= 8 ? 1 : 0;
  const double width = map.cell_w - seam, height = map.cell_h - seam;
  for (size_t i = 0; i < map.candidates.size(); ++i) {
    if (!map.candidates[i]) continue;
    const double x = map.x_of(i), y = map.y_of(i);
    const results::CandidateRow& row = figure.pooled[*map.candidates[i]];
    const std::string hover = figure.hover(*map.candidates[i]);
    if (!row.complete) {
      svg.rect(x, y, width, height, "blank", hover);
      if (row.failed > 0)
        svg.cross(x + map.cell_w / 2, y + map.cell_h / 2, std::min({4.0, map.cell_w / 3, map.cell_h / 3}));
      continue;
    }
    const Colour colour = colours.of(row.mean);
    svg.rect(x, y, width, height, {}, hover, colour.hex());
    if (print)
      svg.text(x + width / 2, y + map.cell_h / 2 + 3, cell_text(figure.unit, row.mean),
               colour.light() ? "small mid onlight" : "small mid ondark");
  }
}

std::string caption(const Figure& figure) {
  const std::string text = "mean of " + figure.fits_text();
  if (!figure.best || !figure.pooled[*figure.best].complete) return text;
  const results::CandidateRow& row = figure.pooled[*figure.best];
  return text + fmt::format("; best (framed): {}, {} ± {}", results::pretty_params(figure.view.plan, *figure.best),
                            figure.unit.text(row.mean), figure.unit.spread(row.sd));
}

std::string draw_map(const Figure& figure, const Group& group, const Colours& colours) {
  const Map map(figure, group);
  const double width = std::max(map.right + 118, 460.0);
  const double height = map.bottom + (map.any_failed || map.any_missing ? 78 : 58);
  const std::string over = fmt::format("{} over {} and {}", figure.unit.title, figure.x->name, figure.y->name);
  Svg svg(width, height, "Heat map of the mean " + over,
          "Mean " + over + (group.title.empty() ? "" : ", " + group.title), caption(figure));
  draw_cells(svg, figure, map, colours);
  const auto& in = group.candidates;
  if (figure.best && std::find(in.begin(), in.end(), *figure.best) != in.end()) {
    const size_t cell = map.cell_of(figure, *figure.best);
    for (const char* classes : {"ring", "core"})
      svg.rect(map.x_of(cell) - 1, map.y_of(cell) - 1, map.cell_w + 1, map.cell_h + 1, classes, {}, {}, 2);
  }
  const Positions below = cells_of(*figure.x, map.left, map.cell_w);
  const Positions beside = cells_of(*figure.y, map.bottom, -map.cell_h);
  bottom_axis(svg, below.scale, map.bottom + 4, map.bottom + 4, below.ticks, below.title);
  left_axis(svg, beside.scale, map.left - 5, map.left - 5, beside.ticks, beside.title);
  if (!colours.means.empty()) draw_legend(svg, colours, figure.unit, map.right + 22, map.bottom);
  std::string note = map.any_failed ? "× a fit failed" : "";
  const std::string gap = results::fits_left(figure.view) ? "grey: not finished" : "grey: not computed";
  if (map.any_missing) note += note.empty() ? gap : "; " + gap;
  if (!note.empty()) svg.text(map.left, map.bottom + 64, note);
  return std::move(svg).finish();
}

}  // namespace

std::vector<NamedFile> heat_maps(const Figure& figure) {
  std::vector<NamedFile> files;
  const size_t cells = figure.x->values.size() * figure.y->values.size();
  if (cells == 0 || cells > kMaxCells) return files;
  const Colours colours(figure);
  for (size_t g = 0; g < std::min({figure.groups.size(), kMaxHeatMaps, kMaxCells / cells}); ++g) {
    const std::string name = figure.groups.size() == 1 ? "plots/heatmap.svg" : fmt::format("plots/heatmap-{}.svg", g);
    files.push_back({name, draw_map(figure, figure.groups[g], colours)});
  }
  return files;
}

}  // namespace mokume::report
