// report.html: a single self-contained file, well-formed as HTML and as XML.
#pragma once

#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// Returns the page with these plots, which are those of plots(view).
std::string report_html(const RunView& view, const std::vector<NamedFile>& plots);

}  // namespace mokume::report
