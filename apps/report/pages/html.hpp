// Renders report.html, a single self-contained file that is well-formed as HTML and as XML.
#pragma once

#include <string>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr int kRefreshSeconds = 30;

// Returns the page with the plots of plots(view). The page of a `live` run reloads itself every kRefreshSeconds.
std::string report_html(const results::RunView& view, const std::vector<NamedFile>& plots, bool live = false);

}  // namespace mokume::report
