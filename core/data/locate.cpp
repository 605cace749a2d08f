#include "data/locate.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/missing.hpp"
#include "data/input.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Returns `path`, or `path` with .gz added or removed; "" if neither exists.
std::string plain_or_gz(const std::string& path) {
  if (exists(path)) return path;
  const bool gz = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  const std::string other = gz ? path.substr(0, path.size() - 3) : path + ".gz";
  return exists(other) ? other : "";
}

bool replace_last(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.rfind(from);
  if (at == std::string::npos) return false;
  text.replace(at, from.size(), to);
  return true;
}

bool plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

// Returns the directory of the data set `name`. `what` introduces the list of searched places.
std::string find_name(const std::string& name, const std::string& what) {
  const char* const variable = std::getenv("MOKUME_DATA");
  const bool set = variable != nullptr && *variable != '\0';
  const std::string first = set ? std::string(variable) + "/" + name : "$MOKUME_DATA/" + name;
  if (set && is_directory(first)) return first;
  const std::string cache = base::cache_directory();
  const std::string second = (cache.empty() ? "~/.cache/mokume" : cache) + "/" + name;
  if (is_directory(second)) return second;
  const std::string cure = name == "mnist" ? "run 'mokume data fetch mnist', or set" : "check the name, or set";
  throw Error(MK_BAD_DATA, "there is no " + what + " '" + first + "' or '" + second + "'; " + cure +
                               " MOKUME_DATA to the directory that holds '" + name + "'");
}

}  // namespace

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string locate_name(const std::string& name) { return find_name(name, "data set '" + name + "' in"); }

std::string locate(const std::string& path) {
  if (exists(path) || !plain_name(path)) return path;
  return find_name(path, "file or data set '" + path + "' in the working directory " + base::working_directory() + ",");
}

std::string single_file(const std::string& path) {
  if (!is_directory(path)) return path;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name[0] != '.' && name.compare(0, 6, "README") != 0 && at->is_regular_file(ignored))
      files.push_back(at->path().string());
  }
  if (files.size() == 1) return files[0];
  bad_data(path, "", "is a directory with " + std::to_string(files.size()) + " files; name the file in data.path");
}

IdxPair idx_in_directory(const std::string& directory, const std::string& set) {
  const auto find = [&](const std::string& name) {
    const std::string path = plain_or_gz(directory + "/" + name);
    if (path.empty())
      bad_data(directory, "", "contains neither '" + name + "' nor '" + name + ".gz'; put the four IDX files there");
    return path;
  };
  return {find(set + "-images-idx3-ubyte"), find(set + "-labels-idx1-ubyte")};
}

IdxPair idx_beside(const std::string& images, bool labels_required) {
  if (!exists(images))
    bad_data(images, "", "cannot be opened: " + base::open_failure(images, ENOENT) + "; check the path");
  const size_t slash = images.rfind('/');
  const size_t start = slash == std::string::npos ? 0 : slash + 1;
  std::string name = images.substr(start);
  const bool named = replace_last(name, "images", "labels");
  replace_last(name, "idx3", "idx1");
  const std::string labels = named ? plain_or_gz(images.substr(0, start) + name) : "";
  if (labels.empty() && labels_required)
    bad_data(images, "",
             named ? "has no labels file '" + name + "' next to it; put it there"
                   : "has a name without 'images', so its labels file cannot be inferred; rename both files as in "
                     "train-images-idx3-ubyte and train-labels-idx1-ubyte");
  return {images, labels};
}

std::string stem(const std::string& path) {
  fs::path name = fs::path(path).lexically_normal();
  name = name.has_filename() ? name.filename() : name.parent_path().filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

}  // namespace mokume::data
