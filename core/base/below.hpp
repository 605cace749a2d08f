// Accesses files and directories below a root, and never through a symbolic link. A run directory may come from
// somebody else, and a link in it could redirect reads and writes to another file of the user. The user named the root
// itself, so the root may be a link.
//
// Every function throws Error(MK_BAD_DATA) for the first part of `name` that is a link; only remove() accepts a link as
// the last part. Functions open each directory relative to its parent, so nobody can swap in a link in between.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::base {

// `name` is relative to `root`, e.g. "logs/status.json", without "." and "..". An empty name stands for the root.
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
  int close();  // returns the result of close(2), or 0 if there is no descriptor

 private:
  int fd_;
};

// Opens `file` like open(2) with O_NOFOLLOW and O_CLOEXEC. Returns -1 and sets errno on any failure other than a link.
FileDescriptor open_below(const Below& file, int flags, mode_t mode = 0);

// Holds the directory of a file, for openat(2) and similar calls, and the last part of the file's name.
struct Parent {
  FileDescriptor directory;  // -1, with errno set, if the directory cannot be opened
  std::string leaf;
};
Parent open_parent(const Below& file);

bool exists(const Below& file);

// Returns the sorted names of the entries; an absent directory has none. Throws sdk::storage_error() on failure.
std::vector<std::string> names_in(const Below& directory);

// Creates the directory and its missing parents. The root must exist. Throws sdk::storage_error() on failure.
void make_directories(const Below& directory);

// Removes a file, or a directory with everything below it. Removes a link itself, not its target. Does nothing if the
// entry does not exist. Throws sdk::storage_error() on failure.
void remove(const Below& file);

// Renames a file or directory within one root. `to` must be a file or not exist. Throws sdk::storage_error() on
// failure.
void rename(const Below& from, const Below& to);

// Throws if the directory, a part of its path, or one of its entries is a link. Serves readers that open files by path.
void refuse_links(const Below& directory);

}  // namespace mokume::base
