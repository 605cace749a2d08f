// The report's section about the members of an ensemble: a plot of their test results and vote, and a table.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::report {

std::string members_section(const results::RunView& view, const std::vector<results::NamedFile>& plots);

}  // namespace mokume::report
