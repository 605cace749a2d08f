// Whether nodes see one directory, and what kind of place it is.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace mokume::cluster {

std::string host_name();

// Host name and boot: processes with the same text run on one kernel and share its cores, devices and memory.
std::string host_identity();

// A file in a directory that says which process put it there; removed on destruction.
class Mark {
 public:
  explicit Mark(const std::string& directory);  // Error(MK_INTERNAL) if nothing can be written there
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string directory_, name_;
};

// Whether the mark `name` is seen in `directory`. Looks again for `patience`: network file systems remember for a while
// that something was not there. Error(MK_CANCELLED) if `stop` is set.
bool sees_mark(const std::string& directory, const std::string& name, std::chrono::milliseconds patience,
               const std::atomic<bool>& stop);

// "ext4", "nfs", "lustre", ... of the nearest directory of `path` that exists; a hex number if it is none of the known.
std::string file_system_of(const std::string& path);

// Median seconds of five appends of a journal line's size, each on disk, to a new file in `directory`; the file is
// removed. Error(MK_INTERNAL) names what cannot be written.
double sync_seconds(const std::string& directory);

}  // namespace mokume::cluster
