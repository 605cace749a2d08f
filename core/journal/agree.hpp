// Decides whether two records of one fit, made by devices of different classes, agree.
#pragma once

#include "journal/bounds.hpp"
#include "journal/record.hpp"

namespace mokume::journal {

// The permitted difference. Records of one device class must not differ: see same_result() in journal/line.hpp.
struct Tolerance {
  double rows = 0.002;     // wrong rows of a classifier, as a share of the validated rows; at least one row may differ
  double rarity = 10;      // a row in a class this many times rarer than the mean class counts this much in a mean
  double relative = 1e-3;  // for all other numbers: a loss, a mean squared error
};

// Compares the status (failed or not), n and every metric, but not notes and curves. `bounds` gives the unit of each
// value: "errors" counts rows and "error" is a share of them; measures that are means over classes (recall, f1, auc and
// similar) may differ by the effect of the permitted rows on a rare class; all other values, and unknown metrics, are
// numbers.
bool agree(const FitRecord& a, const FitRecord& b, const Bounds& bounds, const Tolerance& tolerance = {});

// Returns agree() for records of different device classes, and same_result() within one class.
bool consistent(const FitRecord& a, const FitRecord& b, const Bounds& bounds);

}  // namespace mokume::journal
