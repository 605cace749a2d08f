// Curves over epochs, sorted into plots: one for each quantity that fits follow, whichever rows it is measured on, and
// one more for the members of an ensemble.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

// The rows that a curve was measured on, from its name's prefix, and how its line is drawn where a plot holds several
// kinds.
struct CurveKind {
  const char *prefix, *dashes, *look;
  const char* rows;  // "" without a known prefix
};
const CurveKind& curve_kind(size_t kind);
size_t kind_of(const std::string& curve_name);

constexpr size_t kMaxNamedCurves = 12;  // the colours k0 to k11 of plot.css

// Whether it can be drawn.
bool usable(double value);

// A fit, a refit or a member, with its curves of one family. Points into the view.
struct CurveLine {
  std::string name, hover;
  std::vector<const journal::Curve*> curves;
};

struct CurveFamily {
  std::string name;              // "loss" of train_loss and validation_loss
  std::vector<CurveLine> lines;  // fits by the rank of their candidate, members by bootstrap
  std::optional<CurveLine> refit;
  bool members = false;
  bool numbered = false;  // fits are named candidate,bootstrap,fold
  Scale x, y;             // between the edges of CurveFrame
  std::set<size_t> kinds;
  bool broken = false;  // a named line has a cross
  bool cut = false;     // lines reach past the top
  size_t count = 0;     // fits or members, drawn or not
};

// Where the axes stand in a plot, in px.
struct CurveFrame {
  static constexpr double kLeft = 62, kRight = 636, kTop = 62, kBottom = 340;
};

// The families of the fits by name, then those of the members. `figure` outlives them.
std::vector<CurveFamily> curve_families(const Figure& figure);

}  // namespace mokume::report
