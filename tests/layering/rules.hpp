// The rules of this tree (docs/explained/architecture.md: layers, includes, sizes, banned calls) as a function of file
// contents.
#pragma once

#include <string>
#include <vector>

namespace mokume::layering {

struct Source {
  std::string path;  // relative to the root of the tree, e.g. "core/base/files.cpp"
  std::string text;
};

// Returns one line per violation: the path, the line, the fault and the cure. Empty if the tree keeps the rules.
std::vector<std::string> violations(const std::vector<Source>& tree);

// Returns `text` with comments and the contents of string and character literals blanked; line breaks stay.
std::string code_only(const std::string& text);

// Returns our files below `root` to which the rules apply: sources, headers, kernels, scripts and CMake files.
std::vector<Source> read_tree(const std::string& root);

}  // namespace mokume::layering
