// Curves over epochs, sorted into plots: one for each number that fits follow, on whatever rows, and, of an ensemble,
// one more for the members.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

// What a curve was measured on, from its name's prefix, and how its line is drawn where a plot holds several kinds.
struct CurveKind {
  const char* prefix;
  const char* dashes;
  const char* said;  // "" for what has no known prefix
};
const CurveKind& curve_kind(size_t kind);
size_t kind_of(const std::string& curve_name);

constexpr size_t kMaxNamedCurves = 12;  // the colours k0 to k11 of svg_style()

// Whether it can be drawn.
bool usable(double value);

// A fit, a refit or a member, with its curves of one family. Points into the view.
struct CurveLine {
  std::string name, hover;
  std::vector<const journal::Curve*> curves;
};

struct CurveFamily {
  std::string name;              // "loss" of train_loss and validation_loss
  std::vector<CurveLine> lines;  // of fits, those of the best candidates first; of members, by bootstrap
  std::optional<CurveLine> refit;
  bool members = false;
  bool numbered = false;  // fits are named candidate,bootstrap,fold
  bool log = false;
  Scale x, y;  // between the edges of CurveFrame
  std::set<size_t> kinds;
  bool broken = false;  // a named line has a cross
  bool cut = false;     // lines reach past the top
  size_t count = 0;     // of fits or members, drawn or not
};

// Where the axes stand in a plot, in px.
struct CurveFrame {
  static constexpr double kLeft = 62, kRight = 636, kTop = 62, kBottom = 340;
};

// The families of the fits by name, then those of the members. `figure` outlives them.
std::vector<CurveFamily> curve_families(const Figure& figure);

}  // namespace mokume::report
