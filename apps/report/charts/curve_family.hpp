// Sorts curves over epochs into plots. Each quantity of the fits has one plot, for all kinds of rows on which it was
// measured. The members of an ensemble have plots of their own.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

// Tells on which rows a curve was measured, which follows from the prefix of its name, and defines the line style of
// such curves in a plot of several kinds.
struct CurveKind {
  const char *prefix, *dashes, *look;
  const char* rows;  // "" if there is no known prefix
};
const CurveKind& curve_kind(size_t kind);
size_t kind_of(const std::string& curve_name);

constexpr size_t kMaxNamedCurves = 12;  // limited by the colours k0 to k11 of plot.css

bool usable(double value);

// Holds a fit, a refit or a member, with its curves of one family. The pointers refer to the view.
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
