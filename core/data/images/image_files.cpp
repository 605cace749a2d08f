#include "data/images/image_files.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/json.hpp"
#include "base/missing.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"
#include "data/locate.hpp"

namespace mokume::data {
namespace {

struct FolderEntry {
  std::string name;
  mode_t mode = 0;  // 0 if unknown; `cause` tells why
  int cause = 0;

  bool is_folder() const { return S_ISDIR(mode); }
};

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

[[noreturn]] void cannot_read(const std::string& path, int code) {
  bad_data(path, "", "cannot be read: " + base::open_failure(path, code) + "; check the path and its permissions");
}

// Returns the visible entries of a directory in bytewise order of their names. Follows links, which may be broken.
std::vector<FolderEntry> entries_of(const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
  if (!directory) cannot_read(path, errno);
  std::vector<FolderEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr && errno != 0) cannot_read(path, errno);
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    const std::string whole = path + "/" + entry->d_name;
    struct stat status {};
    const bool known = ::stat(whole.c_str(), &status) == 0;
    entries.push_back({entry->d_name, known ? status.st_mode : 0, known ? 0 : errno});
  }
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

bool is_picture_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  std::string extension = name.substr(dot);
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 3> kPictures = {".png", ".jpg", ".jpeg"};
  return std::find(kPictures.begin(), kPictures.end(), extension) != kPictures.end();
}

// Counts the entries that a listing skips.
struct LeftOut {
  size_t files = 0, folders = 0;
  std::string file, folder;  // the first skipped file and folder

  void add(const std::string& name, bool is_folder) {
    if ((is_folder ? folders : files)++ == 0) (is_folder ? folder : file) = name;
  }
  void tell(const std::string& path, std::vector<std::string>& notes) const {
    if (files > 0)
      notes.push_back(fmt::format("{}: {} not named .png, .jpg or .jpeg {} left out, such as {}", quoted(stem(path)),
                                  files == 1 ? "1 file" : fmt::format("{} files", files), files == 1 ? "is" : "are",
                                  quoted(file)));
    if (folders > 0)
      notes.push_back(fmt::format("{}: {} inside the folders {} not searched, such as {}", quoted(stem(path)),
                                  folders == 1 ? "1 folder" : fmt::format("{} folders", folders),
                                  folders == 1 ? "is" : "are", quoted(folder)));
  }
};

// Appends the pictures of the folder `of_class` in folder.path. If `of_class` is "", appends the pictures of
// folder.path itself, and leaves it to the reader of a picture to report problems.
void add_pictures(const std::string& of_class, size_t label, ImageFolder& folder, LeftOut& left_out) {
  for (const FolderEntry& entry : entries_of(of_class.empty() ? folder.path : folder.path + "/" + of_class)) {
    const std::string name = of_class.empty() ? entry.name : of_class + "/" + entry.name;
    if (entry.is_folder() || !is_picture_name(entry.name)) {
      left_out.add(name, entry.is_folder());
      continue;
    }
    if (!of_class.empty() && entry.cause != 0) cannot_read(folder.path + "/" + name, entry.cause);
    if (!of_class.empty() && !S_ISREG(entry.mode))
      bad_data(folder.path + "/" + name, "", "is not a regular file; remove it");
    folder.files.push_back({name, label});
  }
}

// Rejects unprintable folder names, because they become class names, which tables and messages print.
void check_names(const std::string& path, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!base::is_utf8(name) || std::any_of(name.begin(), name.end(),
                                            [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }))
      bad_data(path, "", "holds a folder whose name " + quoted(name) + " is not printable UTF-8; rename it");
}

// Sorts by value if all names are whole numbers, and otherwise keeps their bytewise order.
void sort_by_value(std::vector<std::string>& names) {
  if (!label_map(names).numeric) return;
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    double x = 0, y = 0;
    return parse_number(a, x) && parse_number(b, y) && x < y;
  });
}

// Reorders the files so that the first of each class comes first, then the second of each class, and so on.
void alternate_classes(ImageFolder& folder) {
  std::vector<std::vector<ImageFile>> of_class(folder.classes.size());
  const size_t count = folder.files.size();
  for (ImageFile& file : folder.files) of_class[file.label].push_back(std::move(file));
  folder.files.clear();
  for (size_t place = 0; folder.files.size() < count; ++place)
    for (std::vector<ImageFile>& files : of_class)
      if (place < files.size()) folder.files.push_back(std::move(files[place]));
}

}  // namespace

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> folders;
  for (FolderEntry& entry : entries_of(path))
    if (entry.is_folder()) folders.push_back(std::move(entry.name));
  return folders;
}

ImageFolder list_classes(const std::string& path) {
  ImageFolder folder;
  folder.path = path;
  LeftOut left_out;
  for (const FolderEntry& entry : entries_of(path)) {
    if (entry.cause != 0) cannot_read(path + "/" + entry.name, entry.cause);
    if (entry.is_folder())
      folder.classes.push_back(entry.name);
    else
      left_out.add(entry.name, false);
  }
  if (folder.classes.empty())
    bad_data(path, "", "holds no folders; put the pictures of each class into a folder with the name of the class");
  check_names(path, folder.classes);
  sort_by_value(folder.classes);
  for (size_t label = 0; label < folder.classes.size(); ++label) {
    const std::string& name = folder.classes[label];
    const size_t before = folder.files.size();
    add_pictures(name, label, folder, left_out);
    if (folder.files.size() == before)
      bad_data(path + "/" + name, "", "holds no .png, .jpg or .jpeg files; add pictures of this class or remove it");
  }
  alternate_classes(folder);
  left_out.tell(path, folder.notes);
  return folder;
}

ImageFolder list_pictures(const std::string& path) {
  ImageFolder folder;
  folder.path = path;
  LeftOut left_out;
  add_pictures("", 0, folder, left_out);
  if (folder.files.empty()) bad_data(path, "", "holds no .png, .jpg or .jpeg files; check the path");
  left_out.tell(path, folder.notes);
  return folder;
}

}  // namespace mokume::data
