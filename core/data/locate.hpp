// Where data sets lie: names looked up in the data directories, and which file of a directory is which.
#pragma once

#include <string>

namespace mokume::data {

// `path` itself if it exists or has a slash; else the directory $MOKUME_DATA/path or the same in the cache directory.
// Error(MK_BAD_DATA) naming both places and the cure.
std::string locate(const std::string& path);
// The same for a name that is never a path of its own.
std::string locate_name(const std::string& name);

// `path`, or the only file in the directory `path` (hidden files and README* aside).
std::string single_file(const std::string& path);

struct IdxPair {
  std::string images;
  std::string labels;  // "" if optional and not there
};
// The pair of the set "train" or "t10k" in a directory of four, each plain or .gz.
IdxPair idx_in_directory(const std::string& directory, const std::string& set);
// An images file, and the labels file beside it: the same name with "labels" for "images" and "idx1" for "idx3".
IdxPair idx_beside(const std::string& images, bool labels_required);

bool is_directory(const std::string& path);
// The file's or directory's name without ".gz" and one more extension.
std::string stem(const std::string& path);

}  // namespace mokume::data
