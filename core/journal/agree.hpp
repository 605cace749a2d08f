// Decides whether two records of one fit agree if devices of different classes made them.
#pragma once

#include "journal/bounds.hpp"
#include "journal/record.hpp"

namespace mokume::journal {

// Limits the difference. Records of one device class must not differ: see same_result() in journal/line.hpp.
struct Tolerance {
  double rows = 0.002;     // permitted difference in wrong rows: a share of the validated rows, but at least one row
  double rarity = 10;      // factor for means over classes, in which a row of a rare class counts this much more
  double relative = 1e-3;  // limit for all other numbers, such as a loss or a mean squared error
};

// Compares the status (failed or not), n and every metric, but not notes and curves. `bounds` tells the unit of each
// value. "errors" counts rows, and "error" is a share of them. Measures that are means over classes (recall, f1, auc
// and similar) may differ by the effect that the permitted rows have in a rare class. All other values, including
// unknown metrics, are numbers.
bool agree(const FitRecord& a, const FitRecord& b, const Bounds& bounds, const Tolerance& tolerance = {});

// Returns whether the records must not differ at all: they are of one device class, or the run has strict numerics.
bool must_be_equal(const FitRecord& a, const FitRecord& b, const Bounds& bounds);

// Returns same_result() for records that must be equal, and otherwise agree().
bool consistent(const FitRecord& a, const FitRecord& b, const Bounds& bounds);

}  // namespace mokume::journal
