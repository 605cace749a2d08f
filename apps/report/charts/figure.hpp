// Turns any search into axes and panels by a fixed rule.
//
// The axes are the two numeric searched parameters with the most distinct values (in a tie, the first ones in the
// experiment file); x is the first of the two in the file. Every combination of the other varying parameters forms a
// group. Candidates that fill less than half of the axes' grid (a random search) have no surface: each numeric
// parameter then gets one plot of all candidates.
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
  bool surface = false;  // x and y span a grid, and the candidates fill at least half of it
  std::vector<Group> groups;

  // Returns one panel per box plot, by the rule at the top of this file. Keeps the kMaxBoxPlots panels with the best
  // means if there are more.
  std::vector<BoxPanel> box_panels() const;
  size_t box_panel_count() const;

  double number(size_t candidate, const Axis& axis) const;  // returns the candidate's value on the axis
  double shown(double value) const { return unit.factor * value; }
  std::vector<size_t> ranking(size_t most) const;  // returns the candidates, best first
  // Returns the highest-ranked complete candidate of `candidates`.
  std::optional<size_t> leader(const std::vector<size_t>& candidates) const;
  // Returns the run's best candidate if it is one of `candidates` and complete, otherwise their leader.
  std::optional<size_t> marked(const std::vector<size_t>& candidates) const;
  std::string hover(size_t candidate) const;  // returns a text with parameters, mean, sd and n
  std::string fits_text() const;              // returns text like "5 folds" or "12 bootstraps × 5 folds"
};

// Returns `prefix` and the first 40 bytes of `name`, with "-" in place of characters that are unsafe in a file name.
std::string safe_name(std::string prefix, const std::string& name);

// Places the values of an axis: at their values (on a log scale if they span two decades), or evenly spaced if some
// distances would otherwise be too small.
struct Positions {
  Scale scale;
  bool by_index = false;
  std::vector<double> values;
  std::vector<Tick> ticks;
  double pitch = 0;   // smallest distance between neighbours, in px
  std::string title;  // "C (log scale)"

  double at(double value) const;
};
Positions positions_of(const Axis& axis, double from, double to, double least_pitch);

// Returns the cells of a heat map, each `pitch` px wide. Ticks are at round values if the values are many and evenly
// spaced, otherwise at the values themselves.
Positions cells_of(const Axis& axis, double from, double pitch);

size_t index_of(const std::vector<double>& ascending, double value);

}  // namespace mokume::report
