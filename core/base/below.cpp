#include "base/below.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_link(const std::string& path) {
  throw Error(MK_BAD_DATA, path +
                               " is a symbolic link, and nothing in a run directory is read or written through one: "
                               "put the file or directory itself there, or remove the link");
}

[[noreturn]] void fail_below(const char* action, const Below& file, int code) {
  throw sdk::storage_error(fmt::format("{} {}", action, file.path()), code);
}

bool is_link_in(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

std::vector<std::string> parts_of_name(const Below& file) {
  std::vector<std::string> parts = split(file.name, '/');
  std::erase(parts, "");
  for (const std::string& part : parts)
    if (part == "." || part == "..") throw Error(MK_INTERNAL, file.name + " is no name below a directory");
  return parts;
}

// std::filesystem has no functions for descriptors, but it accepts this path.
std::string shown_in_proc(const FileDescriptor& directory) {
  return "/proc/self/fd/" + std::to_string(directory.get());
}

struct Walk {
  bool make = false;      // whether to create missing directories
  bool any_leaf = false;  // whether the last part may be a link
};

// Walks from the root to the directory that contains the last part.
Parent walk_below(const Below& file, const Walk& how) {
  std::vector<std::string> parts = parts_of_name(file);
  Parent at{FileDescriptor(::open(file.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), "."};
  std::string shown = file.root;
  for (size_t k = 0; k < parts.size(); ++k) {
    const std::string& part = parts[k];
    if (at.directory.get() < 0) return at;
    shown += "/" + part;
    at.leaf = part;
    const bool last = k + 1 == parts.size();
    if (!(last && how.any_leaf) && is_link_in(at.directory.get(), part)) refuse_link(shown);
    if (last) break;
    if (how.make && ::mkdirat(at.directory.get(), part.c_str(), 0777) != 0 && errno != EEXIST)
      fail_below("create", file, errno);
    const int next = ::openat(at.directory.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int code = errno;
    // The part may have become a link since the check above.
    if (next < 0 && is_link_in(at.directory.get(), part)) refuse_link(shown);
    at.directory = FileDescriptor(next);
    errno = code;
  }
  return at;
}

}  // namespace

int FileDescriptor::release() { return std::exchange(fd_, -1); }

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = other.release();
  return *this;
}

int FileDescriptor::close() { return fd_ >= 0 ? ::close(release()) : 0; }

Parent open_parent(const Below& file) { return walk_below(file, {}); }

FileDescriptor open_below(const Below& file, int flags, mode_t mode) {
  const Parent parent = open_parent(file);
  if (parent.directory.get() < 0) return FileDescriptor();
  FileDescriptor opened(::openat(parent.directory.get(), parent.leaf.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
  const int code = errno;
  if (opened.get() < 0 && is_link_in(parent.directory.get(), parent.leaf)) refuse_link(file.path());
  errno = code;
  return opened;
}

bool exists(const Below& file) {
  const Parent parent = open_parent(file);
  struct stat status {};
  return parent.directory.get() >= 0 &&
         ::fstatat(parent.directory.get(), parent.leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> names_in(const Below& directory) {
  const FileDescriptor opened = open_below(directory, O_RDONLY | O_DIRECTORY);
  if (opened.get() < 0 && errno == ENOENT) return {};
  if (opened.get() < 0) fail_below("list", directory, errno);
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(shown_in_proc(opened), error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  if (error) fail_below("list", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

void make_directories(const Below& directory) {
  const Parent parent = walk_below(directory, {true, false});
  if (parent.directory.get() < 0 ||
      (::mkdirat(parent.directory.get(), parent.leaf.c_str(), 0777) != 0 && errno != EEXIST))
    fail_below("create", directory, errno);
  if (open_below(directory, O_PATH | O_DIRECTORY).get() < 0) fail_below("create", directory, errno);
}

void remove(const Below& file) {
  const Parent parent = walk_below(file, {false, true});
  if (parent.directory.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    fail_below("remove", file, errno);
  }
  std::error_code error;
  fs::remove_all(shown_in_proc(parent.directory) + "/" + parent.leaf, error);
  if (error) fail_below("remove", file, error.value());
}

void rename(const Below& from, const Below& to) {
  const Parent source = open_parent(from), target = open_parent(to);
  if (source.directory.get() < 0 || target.directory.get() < 0 ||
      ::renameat(source.directory.get(), source.leaf.c_str(), target.directory.get(), target.leaf.c_str()) != 0)
    fail_below("write", to, errno);
}

void refuse_links(const Below& directory) {
  for (const std::string& name : names_in(directory))
    static_cast<void>(exists({directory.root, (directory.name.empty() ? "" : directory.name + "/") + name}));
}

}  // namespace mokume::base
