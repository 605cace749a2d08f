// Defines the disk interface of the journal: append-only files whose data is on disk when a call returns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mokume::base {

// Represents an append-only file. On failure, every function throws sdk::storage_error().
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual std::string read() const = 0;            // returns the whole content
  virtual void append(std::string_view text) = 0;  // returns once the text is on disk; may write a part of it and throw
  virtual void cut(uint64_t bytes) = 0;            // truncates the file to this size
};

class Disk {
 public:
  virtual ~Disk() = default;
  // Opens a file, and creates the file and its directory if needed. Throws Error(MK_BAD_DATA) if either is a symbolic
  // link. A newly created file survives a power failure.
  virtual std::unique_ptr<AppendFile> open(const std::string& directory, const std::string& name) const = 0;
};

// Returns the file system of this machine.
const Disk& system_disk();

}  // namespace mokume::base
