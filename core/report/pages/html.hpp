// report.html: a single self-contained file, well-formed as HTML and as XML.
#pragma once

#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

inline constexpr int kRefreshSeconds = 30;

// Returns the page with these plots, which are those of plots(view). The page of a `live` run reloads itself every
// kRefreshSeconds.
std::string report_html(const RunView& view, const std::vector<NamedFile>& plots, bool live = false);

}  // namespace mokume::report
