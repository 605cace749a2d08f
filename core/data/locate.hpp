// Finds data sets: looks up names in the data directories and identifies the files of a directory.
#pragma once

#include <string>

namespace mokume::data {

// Returns `path` itself if it exists or contains a slash; otherwise the directory $MOKUME_DATA/path or the same name in
// the cache directory. Throws Error(MK_BAD_DATA), which names both places and the cure, if neither exists.
std::string locate(const std::string& path);
// Looks up a name in the same places, but never takes it for a path.
std::string locate_name(const std::string& name);

// Returns `path`, or the only file in the directory `path`. Ignores hidden files and README*.
std::string single_file(const std::string& path);

struct IdxPair {
  std::string images;
  std::string labels;  // "" if optional and absent
};
// Finds the pair of files for the set "train" or "t10k" in a directory with four files, each plain or .gz.
IdxPair idx_in_directory(const std::string& directory, const std::string& set);
// Pairs an images file with the labels file next to it, whose name has "labels" for "images" and "idx1" for "idx3".
IdxPair idx_beside(const std::string& images, bool labels_required);

bool is_directory(const std::string& path);
// Returns the name of the file or directory without ".gz" and one more extension.
std::string stem(const std::string& path);

}  // namespace mokume::data
