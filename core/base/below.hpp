// Accesses files and directories below a root, and never through a symbolic link. A run directory may come from
// somebody else, and a link in it could redirect reads and writes to another file of the user. The user named the root
// itself, so the root may be a link.
//
// Every function throws an Error(MK_BAD_DATA) that names the first link on the way to `name`, or `name` itself if it is
// a link. Each directory is opened relative to its parent, so that nobody can replace a directory by a link in between.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::base {

// `name` is relative to `root`, without "." and "..": "logs/status.json". An empty name is the root.
struct Below {
  std::string root, name;
  std::string path() const { return name.empty() ? root : root + "/" + name; }
};

// Owns a file descriptor; -1 means none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  int get() const { return fd_; }
  int release();
  int close();  // returns the result of close(2)

 private:
  int fd_;
};

// Calls open(2) with O_NOFOLLOW and O_CLOEXEC. Returns -1 with errno set if it fails for another reason than a link.
FileDescriptor open_below(const Below& file, int flags, mode_t mode = 0);

// The directory of `file`, for openat(2) and similar calls, and the last part of its name.
struct Parent {
  FileDescriptor directory;  // -1, with errno set, if it cannot be opened
  std::string leaf;
};
Parent open_parent(const Below& file);

bool exists(const Below& file);

// Returns the sorted names of the entries, none without the directory. Throws Error(MK_STORAGE) if it is unreadable.
std::vector<std::string> names_in(const Below& directory);

// Creates the directory and its parents below the root, which must exist. Throws Error(MK_STORAGE) on failure.
void make_directories(const Below& directory);

// Removes a file, or a directory with everything below it; a link is removed, not followed. Does nothing if the entry
// does not exist. Throws Error(MK_STORAGE) on failure.
void remove(const Below& file);

// Both names have the same root. `to` must name a file or nothing. Throws Error(MK_STORAGE) on failure.
void rename(const Below& from, const Below& to);

// Throws if the directory, a part of its path, or one of its entries is a link. For readers that open files by path.
void refuse_links(const Below& directory);

}  // namespace mokume::base
