// Lists the pictures in folders: one folder per class, or pictures alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

struct ImageFile {
  std::string name;  // below the listed folder: "cat/1.png"
  size_t label = 0;  // index into ImageFolder::classes; meaningless without classes
};

// Files named .png, .jpg or .jpeg in any case. With classes: the first file of each class, then the second of each, and
// so on, where the files of a class are in bytewise order of their names. So the first rows hold every class.
struct ImageFolder {
  std::string path;
  std::vector<std::string> classes;  // folder names: ascending, numerically if all are whole numbers
  std::vector<ImageFile> files;      // at least one
  std::vector<std::string> notes;    // what was left out, one sentence each

  std::string path_of(const ImageFile& file) const { return path + "/" + file.name; }
};

// Links are followed, hidden names are passed over, and folders inside a class's folder are not searched.
// Error(MK_BAD_DATA): a folder or file cannot be read, there are no folders, one of them holds no pictures, or its name
// cannot be printed.
ImageFolder list_classes(const std::string& path);
// The pictures of `path` itself, without classes. Error(MK_BAD_DATA) as above.
ImageFolder list_pictures(const std::string& path);

// The folders in `path`, bytewise by name, hidden ones aside. Error(MK_BAD_DATA) if it cannot be read.
std::vector<std::string> folders_in(const std::string& path);

}  // namespace mokume::data
