// Sorts curves over epochs into plots: one plot per quantity of the fits, for all kinds of rows that it was measured
// on, and another plot for the members of an ensemble.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

// The rows that a curve was measured on, derived from the prefix of its name, and its line style in a plot of several
// kinds.
struct CurveKind {
  const char *prefix, *dashes, *look;
  const char* rows;  // "" without a known prefix
};
const CurveKind& curve_kind(size_t kind);
size_t kind_of(const std::string& curve_name);

constexpr size_t kMaxNamedCurves = 12;  // limited by the colours k0 to k11 of plot.css

bool usable(double value);

// A fit, a refit or a member, with its curves of one family. Points into the view.
struct CurveLine {
  std::string name, hover;
  std::vector<const journal::Curve*> curves;
};

struct CurveFamily {
  std::string name;              // "loss" for train_loss and validation_loss
  std::vector<CurveLine> lines;  // fits by the rank of their candidate; members by bootstrap
  std::optional<CurveLine> refit;
  bool members = false;
  bool numbered = false;  // fits are named candidate,bootstrap,fold
  Scale x, y;             // within the edges of CurveFrame
  std::set<size_t> kinds;
  bool broken = false;  // a named line has a cross
  bool cut = false;     // some lines extend beyond the top
  size_t count = 0;     // number of fits or members, drawn or not
};

struct CurveFrame {
  static constexpr double kLeft = 62, kRight = 636, kTop = 62, kBottom = 340;
};

// Returns the families of the fits by name, then the families of the members. `figure` must outlive them.
std::vector<CurveFamily> curve_families(const Figure& figure);

}  // namespace mokume::report
