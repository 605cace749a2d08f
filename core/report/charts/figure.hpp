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

#include "report/charts/axes.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {

constexpr size_t kMaxBoxPlots = 64;

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
  explicit Figure(const RunView& source);

  const RunView& view;
  std::vector<CandidateRow> pooled;
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
  double shown(double value) const { return unit.factor * value; }
  std::vector<size_t> ranking(size_t most) const;  // candidates, the best ones first
  // The complete candidate among these that ranks first.
  std::optional<size_t> leader(const std::vector<size_t>& candidates) const;
  // The run's best if it is one of `candidates` and complete, else their leader.
  std::optional<size_t> marked(const std::vector<size_t>& candidates) const;
  std::string hover(size_t candidate) const;  // parameters, mean, sd, n
  std::string fits_text() const;              // "5 folds", "12 bootstraps x 5 folds"
};

// `prefix` and the characters of `name` that are safe in the name of a file.
std::string safe_name(std::string prefix, const std::string& name);

// Where the values of an axis stand: at their value (log if they span two decades), or evenly spaced in their order
// where their distances would leave too little room.
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

// The cells of a heat map, `pitch` px wide each. Ticks at round values where the values are evenly spaced, else at the
// values themselves.
Positions cells_of(const Axis& axis, double from, double pitch);

size_t index_of(const std::vector<double>& ascending, double value);

}  // namespace mokume::report
