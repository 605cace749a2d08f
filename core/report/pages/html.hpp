// report.html: one file without references to others; well-formed as HTML and as XML.
#pragma once

#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// The page with these plots in it, which are those of plots(view).
std::string report_html(const RunView& view, const std::vector<NamedFile>& plots);

}  // namespace mokume::report
