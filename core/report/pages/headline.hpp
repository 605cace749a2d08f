// The top of report.html: what the run was and what came of it.
#pragma once

#include <string>

#include "report/charts/figure.hpp"

namespace mokume::report {

std::string headline(const Figure& figure);

}  // namespace mokume::report
