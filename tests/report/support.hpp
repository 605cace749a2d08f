// Provides a checker for well-formed XML, and the report of a small run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/charts/plots.hpp"
#include "report/named_file.hpp"
#include "report/pages/html.hpp"
#include "results/support.hpp"
#include "results/view.hpp"

namespace mokume::report::testing {

using results::testing::add_refit;
using results::testing::fill;
using results::testing::grid;
using results::testing::occurrences;
using results::testing::record;

inline std::string page(const results::RunView& view) { return report_html(view, plots(view)); }

inline const NamedFile* find(const std::vector<NamedFile>& files, const std::string& name) {
  for (const NamedFile& file : files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

// Returns "" if `text` is one well-formed XML element (after an optional document type), otherwise the fault and its
// place.
std::string xml_fault(std::string_view text);

}  // namespace mokume::report::testing
