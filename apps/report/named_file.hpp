// Defines a generated file of a run directory.
#pragma once

#include <string>

namespace mokume::report {

struct NamedFile {
  std::string name;  // relative to the run directory, e.g. "plots/heatmap.svg"
  std::string content;
};

}  // namespace mokume::report
