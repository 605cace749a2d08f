// Files and directories below a root that are never reached through a symbolic link. A run directory may come from
// somebody else, and a link in it could lead any of our writes or reads to another file of the user. The root itself is
// the user's own word and may be a link.
//
// Every function throws Error(MK_BAD_DATA) that names the first link on the way to `name`, or `name` itself if it is
// one. Each step of the way is opened from the one before, so that nobody can swap a directory for a link in between.
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

// Owns a file descriptor; -1 is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  int get() const { return fd_; }
  int release();
  int close();  // the result of close(2)

 private:
  int fd_;
};

// open(2), with O_NOFOLLOW and O_CLOEXEC. Returns -1 with errno if it fails for another reason than a link.
FileDescriptor open_below(const Below& file, int flags, mode_t mode = 0);

// The directory of `file`, for openat(2) and the like, and the last part of its name.
struct Parent {
  FileDescriptor directory;  // -1 with errno if it cannot be opened
  std::string leaf;
};
Parent open_parent(const Below& file);

bool exists(const Below& file);

// Names of the entries, sorted; none if there is no such directory. Error(MK_STORAGE) if it cannot be read.
std::vector<std::string> names_in(const Below& directory);

// Creates the directory with its parents, down from the root, which must exist. Error(MK_STORAGE).
void make_directories(const Below& directory);

// Removes a file, or a directory with everything below it; a link is removed, not followed. Does nothing if there is
// nothing. Error(MK_STORAGE).
void remove(const Below& file);

// Both have the same root. What `to` names must not exist, or be a file. Error(MK_STORAGE).
void rename(const Below& from, const Below& to);

// Throws if the directory, its way, or one of its entries is a link. For readers that open files by path.
void refuse_links(const Below& directory);

}  // namespace mokume::base
