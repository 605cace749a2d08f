// The mean of the selecting metric over two parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/charts/figure.hpp"

namespace mokume::report {
namespace {

constexpr double kTop = 74;
constexpr double kMaxCells = 16384;  // beyond, cells are smaller than a pixel of the page

struct Colours {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool log = false;

  // Low means are light: the eye finds the best region first.
  Colour of(double mean) const {
    if (!(high > low)) return colour_scale(1);
    const double share = log ? std::log(mean / low) / std::log(high / low) : (mean - low) / (high - low);
    return colour_scale(1 - share);
  }
};

Colours colours_of(const Figure& figure) {
  Colours colours;
  for (const Pooled& row : figure.pooled) {
    if (!row.complete) continue;
    colours.low = std::min(colours.low, row.mean);
    colours.high = std::max(colours.high, row.mean);
  }
  colours.log = colours.low > 0 && colours.high / colours.low >= 10;
  return colours;
}

// At most four characters, so that a 24 x 24 map can show them.
std::string cell_text(const Unit& unit, double mean) {
  const double value = unit.factor * mean;
  if (unit.percent) return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  return pretty(value, 3);
}

struct Layout {
  size_t nx = 0, ny = 0;
  double cell_w = 0, cell_h = 0, left = 0, right = 0, bottom = 0;
};

Layout layout_of(const Figure& figure) {
  Layout l;
  l.nx = figure.x->values.size(), l.ny = figure.y->values.size();
  l.cell_w = std::clamp(std::floor(744 / static_cast<double>(l.nx)), 4.0, 84.0);
  l.cell_h = std::clamp(std::floor(600 / static_cast<double>(l.ny)), 4.0, 44.0);
  double labels = 0;
  for (const Tick& tick : place_cells(*figure.y, 0, 1).ticks) {
    labels = std::max(labels, text_width(tick.label) + text_width(tick.exponent, 8));
  }
  l.left = 48 + labels;
  l.right = l.left + l.cell_w * static_cast<double>(l.nx);
  l.bottom = kTop + l.cell_h * static_cast<double>(l.ny);
  return l;
}

void draw_legend(Svg& svg, const Colours& colours, const Unit& unit, double left, double bottom) {
  const double height = std::min(220.0, bottom - kTop);
  const int steps = static_cast<int>(std::max(8.0, height / 4));
  svg.text(left, kTop - 12, "mean " + unit.title, "strong");
  const double slice = height / steps;
  for (int i = 0; i < steps; ++i) {
    // A hair of overlap hides the seams that anti-aliasing would show.
    svg.rect(left, kTop + i * slice, 14, slice + (i + 1 < steps ? 0.5 : 0), {}, {},
             colour_scale((i + 0.5) / steps).hex());
  }
  if (!(colours.high > colours.low)) {
    svg.text(left + 22, kTop + height / 2 + 4, unit.spread(colours.low), "strong");
    return;
  }
  const Scale scale{colours.log, unit.factor * colours.low, unit.factor * colours.high, kTop + height, kTop};
  double taken = std::numeric_limits<double>::infinity();
  for (const Tick& tick : ticks(scale, height < 120 ? 2 : 5)) {
    const double y = scale.at(tick.value);
    if (tick.label.empty() || y > taken - 13) continue;
    svg.line(left + 14, y, left + 18, y, "axis");
    svg.text(left + 22, y + 4, tick.label, "", tick.exponent);
    taken = y;
  }
  svg.text(left, kTop + height + 16, colours.log ? "log scale" : "linear scale", "");
}

struct Cells {
  std::vector<std::optional<size_t>> candidate;  // [y][x]: the best ranked one of the cell
  bool any_failed = false, any_missing = false;
};

size_t index_of(const Axis& axis, double value) {
  return static_cast<size_t>(std::lower_bound(axis.values.begin(), axis.values.end(), value) - axis.values.begin());
}

Cells cells_of(const Figure& figure, const Group& group) {
  Cells cells;
  cells.candidate.resize(figure.x->values.size() * figure.y->values.size());
  for (const size_t c : group.candidates) {
    auto& cell = cells.candidate[index_of(*figure.y, figure.number(c, *figure.y)) * figure.x->values.size() +
                                 index_of(*figure.x, figure.number(c, *figure.x))];
    if (!cell || figure.pooled[c].rank < figure.pooled[*cell].rank) cell = c;
  }
  for (const auto& cell : cells.candidate) {
    if (!cell || figure.pooled[*cell].complete) continue;
    (figure.pooled[*cell].failed > 0 ? cells.any_failed : cells.any_missing) = true;
  }
  return cells;
}

void draw_cells(Svg& svg, const Figure& figure, const Cells& cells, const Layout& l, const Colours& colours) {
  double widest = 0;
  for (const Pooled& row : figure.pooled) {
    if (row.complete) widest = std::max(widest, text_width(cell_text(figure.unit, row.mean), 9));
  }
  const bool print = l.cell_h >= 14 && l.cell_w >= widest + 3;
  const double seam = l.cell_w >= 8 && l.cell_h >= 8 ? 1 : 0;
  for (size_t i = 0; i < cells.candidate.size(); ++i) {
    const double x = l.left + l.cell_w * static_cast<double>(i % l.nx);
    const double y = l.bottom - l.cell_h * static_cast<double>(i / l.nx + 1);
    const auto& candidate = cells.candidate[i];
    if (!candidate) continue;
    const Pooled& row = figure.pooled[*candidate];
    const std::string hover = figure.hover(*candidate);
    if (row.complete) {
      const Colour colour = colours.of(row.mean);
      svg.rect(x, y, l.cell_w - seam, l.cell_h - seam, {}, hover, colour.hex());
      if (!print) continue;
      svg.text(x + (l.cell_w - seam) / 2, y + l.cell_h / 2 + 3, cell_text(figure.unit, row.mean),
               colour.light() ? "small mid onlight" : "small mid ondark");
      continue;
    }
    svg.rect(x, y, l.cell_w - seam, l.cell_h - seam, "blank", hover);
    if (row.failed == 0) continue;
    const double cx = x + l.cell_w / 2, cy = y + l.cell_h / 2, r = std::min({4.0, l.cell_w / 3, l.cell_h / 3});
    svg.path(fmt::format("M{0} {2}L{1} {3}M{1} {2}L{0} {3}", coordinate(cx - r), coordinate(cx + r), coordinate(cy - r),
                         coordinate(cy + r)),
             "cross");
  }
}

void mark_best(Svg& svg, const Figure& figure, const Group& group, const Layout& l) {
  if (!figure.best) return;
  if (std::find(group.candidates.begin(), group.candidates.end(), *figure.best) == group.candidates.end()) return;
  const double x = l.left + l.cell_w * static_cast<double>(index_of(*figure.x, figure.number(*figure.best, *figure.x)));
  const size_t row = index_of(*figure.y, figure.number(*figure.best, *figure.y));
  const double y = l.bottom - l.cell_h * static_cast<double>(row + 1);
  for (const char* classes : {"ring", "core"}) svg.rect(x - 1, y - 1, l.cell_w + 1, l.cell_h + 1, classes, {}, {}, 2);
}

std::string caption(const Figure& figure) {
  std::string text = "mean of " + figure.fits_text();
  if (figure.best && figure.pooled[*figure.best].complete) {
    const Pooled& row = figure.pooled[*figure.best];
    text += fmt::format("; best (framed): {}, {} ± {}", pretty_params(figure.view.plan, *figure.best),
                        figure.unit.text(row.mean), figure.unit.spread(row.sd));
  }
  return text;
}

std::string draw_map(const Figure& figure, const Group& group, const Colours& colours) {
  const Layout l = layout_of(figure);
  const Cells cells = cells_of(figure, group);
  const double width = std::max(l.right + 118, 460.0),
               height = l.bottom + (cells.any_failed || cells.any_missing ? 78 : 58);
  const std::string over = fmt::format("{} over {} and {}", figure.unit.title, figure.x->name, figure.y->name);
  Svg svg(width, height, "Heat map of the mean " + over);
  const size_t fits = static_cast<size_t>((width - 32) / 6.2);
  svg.text(16, 22, elide("Mean " + over + (group.title.empty() ? "" : ", " + group.title), fits), "head");
  svg.text(16, 40, elide(caption(figure), fits), "");
  draw_cells(svg, figure, cells, l, colours);
  mark_best(svg, figure, group, l);
  const Placing below = place_cells(*figure.x, l.left, l.cell_w);
  const Placing beside = place_cells(*figure.y, l.bottom, -l.cell_h);
  bottom_axis(svg, below.scale, l.bottom + 4, below.ticks);
  left_axis(svg, beside.scale, l.left - 5, l.left - 5, beside.ticks);
  svg.text((l.left + l.right) / 2, l.bottom + 44, below.title, "mid strong");
  svg.text_up(16, (kTop + l.bottom) / 2, beside.title, "mid strong");
  if (colours.high >= colours.low) draw_legend(svg, colours, figure.unit, l.right + 22, l.bottom);
  std::string note = cells.any_failed ? "× a fit failed" : "";
  if (cells.any_missing) note += note.empty() ? "grey: not finished" : "; grey: not finished";
  if (!note.empty()) svg.text(l.left, l.bottom + 64, note, "");
  return std::move(svg).finish();
}

}  // namespace

std::vector<NamedFile> heat_maps(const Figure& figure) {
  std::vector<NamedFile> files;
  if (static_cast<double>(figure.x->values.size()) * static_cast<double>(figure.y->values.size()) > kMaxCells) {
    return files;
  }
  const Colours colours = colours_of(figure);
  for (size_t g = 0; g < std::min(figure.groups.size(), kMaxHeatMaps); ++g) {
    const std::string name = figure.groups.size() == 1 ? "plots/heatmap.svg" : fmt::format("plots/heatmap-{}.svg", g);
    files.push_back({name, draw_map(figure, figure.groups[g], colours)});
  }
  return files;
}

}  // namespace mokume::report
