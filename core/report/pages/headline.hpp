// The top of report.html: what the run was and what came of it.
#pragma once

#include <string>

#include "report/charts/figure.hpp"

namespace mokume::report {

// Fits of the plan.
struct Counts {
  size_t planned = 0, finished = 0, ok = 0, copied = 0, capped = 0, failed = 0;
  size_t failed_refits = 0;  // not counted above
};

Counts count(const RunView& view);

std::string headline(const Figure& figure, const Counts& counts);

}  // namespace mokume::report
