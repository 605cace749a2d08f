// The disk as the journal sees it: files that only grow, and texts that are on the disk once a call returns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mokume::base {

// A file that is appended to. Every failure is an Error(MK_STORAGE) that gives the cause as the system names it.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual std::string read() const = 0;            // everything that is in it
  virtual void append(std::string_view text) = 0;  // on the disk when it returns; may leave a part of it if it throws
  virtual void cut(uint64_t bytes) = 0;            // to this many bytes
};

class Disk {
 public:
  virtual ~Disk() = default;
  // Opens a file, creating it and its directory if needed. A file that was created survives a power cut.
  virtual std::unique_ptr<AppendFile> open(const std::string& directory, const std::string& name) const = 0;
};

// The file system of this machine.
const Disk& system_disk();

}  // namespace mokume::base
