// Checks the rules of this tree (docs/explained/architecture.md: layers, includes, sizes, banned calls) as a function
// of file contents.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mokume::layering {

struct Source {
  std::string path;  // relative to the root of the tree, e.g. "core/base/files.cpp"
  std::string text;
};

// Returns one line per violation, with the path, the line, the fault and the cure.
std::vector<std::string> violations(const std::vector<Source>& tree);

// Returns the number of lines in all sources and headers of core.
size_t core_lines(const std::vector<Source>& tree);
// Returns the number of lines of a source of core, of everything in core that it includes, directly or not, and of the
// sources that belong to these headers: X.cpp, and X_more.cpp if that has no header of its own.
size_t reached_lines(const std::vector<Source>& tree, const std::string& path);

// Returns `text` with comments and the contents of string and character literals blanked; line breaks stay.
std::string code_only(const std::string& text);

// Returns the files below `root` to which the rules apply: sources, headers, kernels, scripts and CMake files.
std::vector<Source> read_tree(const std::string& root);

}  // namespace mokume::layering
