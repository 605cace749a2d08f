// Whether two records of one fit, made by devices of different classes, agree.
#pragma once

#include "journal/record.hpp"

namespace mokume::journal {

// The permitted difference. Within one device class there is none: see same_result() in journal/line.hpp.
struct Tolerance {
  double rows = 0.002;     // classifiers: wrong rows, as a share of the validated rows
  double relative = 1e-3;  // all other metrics: a loss, a mean squared error
};

// Compares the status (failed or not), n and every metric, but not notes and curves. A metric counts rows if it is an
// integer up to n, or such an integer over n, in both records. Two counts may always differ by one.
bool agree(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance = {});

// What two records of one fit must satisfy: agree() between device classes, same_result() within one.
bool consistent(const FitRecord& a, const FitRecord& b, const Tolerance& tolerance = {});

}  // namespace mokume::journal
