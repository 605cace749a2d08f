// The pieces that the sections of report.html are made of. What is text is escaped here; `inner`, `rows`, `body` are
// markup.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/tables/format.hpp"

namespace mokume::report {

// "1 fit", "1 234 fits".
std::string counted(uint64_t count, const std::string& noun);

std::string element(const std::string& name, const std::string& attributes, const std::string& inner);

std::string cell(const std::string& text);
std::string number_cell(const std::string& text);
std::string number_cell(const std::string& text, const std::string& sort_by);

// `heads`: text, and whether the column holds numbers. A table of class "sort" is sorted by a click on a head.
std::string table(const std::string& classes, const std::vector<std::pair<std::string, bool>>& heads,
                  const std::string& rows);

// `lead` may be empty.
std::string section(const std::string& title, const std::string& lead, const std::string& body);

// A plot as part of the page, whose own style already holds the plots' rules.
std::string inlined(const std::string& svg, const std::string& classes);

// "fit 17: candidate 3, fold 2", "the refit"; with the bootstrap if the plan has several.
std::string fit_name(const search::Plan& plan, uint32_t fit);

// The members of an ensemble; "" if there is none.
inline constexpr const char* kMemberPlot = "plots/members.svg";
inline constexpr const char* kExemplarPlots = "plots/certainty-";
std::string members_section(const RunView& view, const std::vector<NamedFile>& plots);

// What went wrong beside the fits, and fits whose results do not go together; "" if there is nothing of that kind.
std::string events_section(const RunView& view);

}  // namespace mokume::report
