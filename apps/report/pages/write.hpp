// Writes what a run directory holds for viewers: plots, TensorBoard's event files and report.html.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Writes plots, event files and report.html to `directory`, whose tables are written, each file atomically, and removes
// *.svg files in plots/ that an earlier report left. Equal views give byte-identical files. Throws Error(MK_STORAGE) if
// something cannot be written. The page of a `live` run reloads itself.
void write(const results::RunView& view, const std::string& directory, bool live = false);

}  // namespace mokume::report
