// Lists the pictures in folders, with one folder per class or without classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

struct ImageFile {
  std::string name;  // path below the listed folder, such as "cat/1.png"
  size_t label = 0;  // index into ImageFolder::classes; meaningless without classes
};

// Holds the files named .png, .jpg or .jpeg, in any case. With classes, the first file of each class comes first, then
// the second of each, and so on, so that the first rows contain every class. Files of a class are in bytewise order.
struct ImageFolder {
  std::string path;
  std::vector<std::string> classes;  // folder names, ascending (numerically if all are whole numbers)
  std::vector<ImageFile> files;      // not empty
  std::vector<std::string> notes;    // messages about skipped entries, one sentence each

  std::string path_of(const ImageFile& file) const { return path + "/" + file.name; }
};

// Follows links, skips hidden names, and does not search folders inside a class's folder. Throws Error(MK_BAD_DATA) if
// a folder or file cannot be read, there are no folders, or a folder has no pictures or an unprintable name.
ImageFolder list_classes(const std::string& path);
// Lists the pictures in `path` itself, without classes. Throws Error(MK_BAD_DATA) like list_classes().
ImageFolder list_pictures(const std::string& path);

// Returns the visible folders in `path` in bytewise order. Throws Error(MK_BAD_DATA) if `path` cannot be read.
std::vector<std::string> folders_in(const std::string& path);

}  // namespace mokume::data
