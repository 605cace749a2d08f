// Writes these files if OPENCL_POSE_RECORD names an existing directory:
//   programs/HASH.cl         each program that was built
//   programs/HASH.options    its options
//   kernels.txt              a line for each kernel that was launched and each work-group size it had:
//                            "HASH KERNEL LXxLYxLZ LOCAL_BYTES"
//   counts-PID.json          the counts of a process, when it exits normally
#pragma once

#include <array>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "pose.h"

namespace mokume::pose {

// Any thread may call any function.
class Record {
 public:
  explicit Record(std::string directory);  // writes nothing if the directory is ""
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  template <class Add>
  void count(const Add& add) {
    const std::lock_guard lock(mutex_);
    add(counts_);
  }
  pose_counts_t counts() const;

  std::string program(std::string_view source, std::string_view options);
  void kernel(const std::string& program, const std::string& name, const std::array<size_t, 3>& group,
              size_t local_bytes);
  void write_counts() const;

 private:
  const std::string directory_;
  mutable std::mutex mutex_;
  pose_counts_t counts_{};
  std::set<std::string> written_;
};

}  // namespace mokume::pose
