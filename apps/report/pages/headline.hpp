// Renders the top of report.html: the run and its main results.
#pragma once

#include <string>

#include "report/charts/figure.hpp"

namespace mokume::report {

std::string headline(const Figure& figure);

}  // namespace mokume::report
