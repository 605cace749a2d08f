// What is plotted against what: the rule that turns any search into axes and panels.
//
// The axes are the two numeric searched parameters with the most distinct values (ties: the one named first); of the
// two, x is the one named first in the experiment file. Every combination of the other varying parameters makes a group
// of its own. Candidates that fill less than half of the axes' grid (a random search) have no surface: each numeric
// parameter then gets one plot of all candidates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/charts/svg.hpp"
#include "report/view.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {

constexpr size_t kMaxBoxPlots = 64;
constexpr size_t kMaxHeatMaps = 16;

struct Axis {
  size_t param = 0;            // index into the plan's params
  std::string name;            // shortened for display
  std::vector<double> values;  // distinct, ascending
};

struct Group {
  std::string title;  // "kernel = rbf"; "" if there is one group only
  std::vector<size_t> candidates;
};

// A box plot to be drawn.
struct BoxPanel {
  std::string file;   // "plots/box-gamma-3.svg"
  std::string title;  // "gamma = 0.00202, kernel = rbf"
  Axis x;
  std::vector<size_t> candidates;
};

struct Figure {
  explicit Figure(const RunView& source);

  const RunView& view;
  std::vector<Pooled> pooled;
  Unit unit;
  std::optional<size_t> best;  // the run's, if it is in the plan
  std::vector<Axis> numeric;   // every numeric parameter with two values or more, in the order of the file
  std::optional<Axis> x, y;
  bool surface = false;  // x and y span a grid that the candidates fill at least by half
  std::vector<Group> groups;

  // All that the rule asks for; more than kMaxBoxPlots are cut to those with the lowest means.
  std::vector<BoxPanel> box_panels() const;
  size_t box_panel_count() const;

  double number(size_t candidate, const Axis& axis) const;  // the candidate's value on the axis
  // Of `candidates`, the complete one that ranks first.
  std::optional<size_t> leader(const std::vector<size_t>& candidates) const;
  // The run's best if it is one of `candidates` and complete, else their leader.
  std::optional<size_t> marked(const std::vector<size_t>& candidates) const;
  std::string hover(size_t candidate) const;  // parameters, mean, sd, n
  std::string fits_text() const;              // "5 folds", "12 bootstraps x 5 folds"
};

// Where the values of an axis stand: at their value (log if they span two decades), or one place each where their
// spacing would leave too little room.
struct Placing {
  Scale scale;
  bool by_index = false;
  std::vector<double> values;
  std::vector<Tick> ticks;
  double pitch = 0;   // px between neighbours: the smallest distance
  std::string title;  // "C (log scale)"

  double at(double value) const;
};
Placing place(const Axis& axis, double from, double to, double least_pitch);

// One place per value, `pitch` px wide each: the cells of a heat map. Ticks at round values where the values are evenly
// spaced, else at the values themselves.
Placing place_cells(const Axis& axis, double from, double pitch);

std::vector<NamedFile> box_plots(const Figure& figure);
std::vector<NamedFile> heat_maps(const Figure& figure);
NamedFile candidate_bars(const Figure& figure);
// How the fits and the refit learned: a plot of every family of curves ("train_loss" and "validation_loss" are of the
// family "loss"), in the order of their names. The fits of the best candidates are named, the refit stands out, and a
// line is broken, with a cross, where a value is not finite.
std::vector<NamedFile> curve_plots(const Figure& figure);
// What the members of an ensemble do on the test rows, and their vote: one plot, or none.
std::vector<NamedFile> member_plots(const RunView& view);
std::string gantt(const RunView& view);  // "" if no record took time

}  // namespace mokume::report
