// Turns any search into axes and panels by a fixed rule.
//
// The axes are the two numeric searched parameters with the most distinct values (ties: the first in the experiment
// file); x is the first of the two in the file. Every combination of the other varying parameters forms a group.
// Candidates that fill less than half of the axes' grid (a random search) have no surface: each numeric parameter then
// gets one plot of all candidates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/charts/axes.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::report {

constexpr size_t kMaxBoxPlots = 16;

struct Axis {
  size_t param = 0;            // index into the plan's params
  std::string name;            // shortened for display
  std::vector<double> values;  // distinct, ascending
};

struct Group {
  std::string title;  // "kernel = rbf"; "" if it is the only group
  std::vector<size_t> candidates;
};

struct BoxPanel {
  std::string file;   // "plots/box-gamma-3.svg"
  std::string title;  // "gamma = 0.00202, kernel = rbf"
  Axis x;
  std::vector<size_t> candidates;
};

struct Figure {
  explicit Figure(const results::RunView& source);

  const results::RunView& view;
  std::vector<results::CandidateRow> pooled;
  results::Unit unit;
  bool larger = false;         // a larger mean is better
  std::optional<size_t> best;  // the run's best candidate, if it is in the plan
  std::vector<Axis> numeric;   // every numeric parameter with at least two values, in file order
  std::optional<Axis> x, y;
  bool surface = false;  // x and y span a grid that the candidates fill at least by half
  std::vector<Group> groups;

  // Returns all panels of the rule above, at most kMaxBoxPlots: those with the best means.
  std::vector<BoxPanel> box_panels() const;
  size_t box_panel_count() const;

  double number(size_t candidate, const Axis& axis) const;  // the candidate's value on the axis
  double shown(double value) const { return unit.factor * value; }
  std::vector<size_t> ranking(size_t most) const;  // candidates, best first
  // Returns the highest-ranked complete candidate of `candidates`.
  std::optional<size_t> leader(const std::vector<size_t>& candidates) const;
  // Returns the run's best candidate if it is one of `candidates` and complete, else their leader.
  std::optional<size_t> marked(const std::vector<size_t>& candidates) const;
  std::string hover(size_t candidate) const;  // shows parameters, mean, sd, n
  std::string fits_text() const;              // like "5 folds" or "12 bootstraps x 5 folds"
};

// Returns `prefix` and the characters of `name` that are safe in a file name.
std::string safe_name(std::string prefix, const std::string& name);

// The positions of an axis' values: at their value (log if they span two decades), or evenly spaced if the distances
// would be too small.
struct Positions {
  Scale scale;
  bool by_index = false;
  std::vector<double> values;
  std::vector<Tick> ticks;
  double pitch = 0;   // px between neighbours: the smallest distance
  std::string title;  // "C (log scale)"

  double at(double value) const;
};
Positions positions_of(const Axis& axis, double from, double to, double least_pitch);

// Returns the cells of a heat map, each `pitch` px wide. Ticks are at round values if the values are evenly spaced,
// else at the values themselves.
Positions cells_of(const Axis& axis, double from, double pitch);

size_t index_of(const std::vector<double>& ascending, double value);

}  // namespace mokume::report
