// Checks whether nodes see the same directory, and which kind of file system holds it.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace mokume::cluster {

std::string host_name();

// Returns the host name and the boot ID. Processes with equal text run on the same kernel and share cores and memory.
std::string host_identity();

// Holds a file that identifies this process to others that read the directory. The destructor removes the file.
class Mark {
 public:
  explicit Mark(const std::string& directory);  // throws sdk::storage_error() if it cannot write the file
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string directory_, name_;
};

// Returns whether the mark `name` is visible in `directory`. Retries for `patience`, because network file systems cache
// the absence of a file for a while. Throws Error(MK_CANCELLED) if `stop` is set.
bool sees_mark(const std::string& directory, const std::string& name, std::chrono::milliseconds patience,
               const std::atomic<bool>& stop);

// Returns "ext4", "nfs", "lustre", ... for the nearest existing directory of `path`, a hex number for an unknown file
// system, or "unknown" on an error.
std::string file_system_of(const std::string& path);

// Times five synced appends of a journal line's size to a new file in `directory`, and removes the file. Returns the
// median in seconds. Throws Error(MK_INTERNAL) that names the file if it cannot be written.
double sync_seconds(const std::string& directory);

}  // namespace mokume::cluster
