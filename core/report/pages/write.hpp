// Writes the files of a run directory that can be rebuilt from its journal.
#pragma once

#include <string>

#include "report/view.hpp"

namespace mokume::report {

// Tables, plots, event files and report.html into `directory`, each file atomically; removes the *.svg of plots/ that
// an earlier report left. The same view gives the same bytes. Error(MK_STORAGE) if something cannot be written.
void write(const RunView& view, const std::string& directory);

}  // namespace mokume::report
