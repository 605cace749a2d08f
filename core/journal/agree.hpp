// Whether two records of one fit, from devices of different classes, tell the same story.
#pragma once

#include "journal/record.hpp"

namespace mokume::journal {

// How far apart they may be. Within one device class nothing may: see same_result() in journal/line.hpp.
struct Tolerance {
  double rows = 0.002;     // of a classifier: wrong rows, as a share of the rows validated on
  double relative = 1e-3;  // of every other metric: a loss, a mean squared error
};

// Status (failed or not), n and every metric; notes and curves are not looked at. A metric that is a whole number of
// the n rows in both records, or such a number over n, counts rows; two counts may always differ by one.
bool agree(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance = {});

// agree() for different device classes, same_result() for one: what two records of one fit must fulfil.
bool consistent(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance = {});

}  // namespace mokume::journal
