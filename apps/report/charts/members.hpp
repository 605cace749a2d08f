// Draws the results of an ensemble's members and of its vote on the test rows.
#pragma once

#include <string>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kMemberPlot = "plots/members.svg";
inline constexpr const char* kExemplarPlots = "plots/certainty-";

// Returns the test results of the members in displayed units: error rates in percent, or mean squared errors.
std::vector<double> member_values(const results::RunView& view);
double shown_result(const results::TestResult& test);
std::string shown_text(const results::RunView& view, double shown);

// Returns one plot of all members and one for each exemplar of the vote, or nothing if no member has a result.
std::vector<NamedFile> member_plots(const results::RunView& view);

}  // namespace mokume::report
