// Renders the report's section about the members of an ensemble: a plot of their test results and vote, and a table.
#pragma once

#include <string>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

std::string members_section(const results::RunView& view, const std::vector<NamedFile>& plots);

}  // namespace mokume::report
