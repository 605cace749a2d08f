// Writes files for viewers into a run directory: plots, TensorBoard's event files and report.html.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Writes plots, event files and report.html to `directory`, which already holds its tables. Writes each file
// atomically, and removes the *.svg files of an earlier report from plots/. Equal views give byte-identical files.
// Throws sdk::storage_error() if something cannot be written. The page of a `live` run reloads itself.
void write(const results::RunView& view, const std::string& directory, bool live = false);

}  // namespace mokume::report
