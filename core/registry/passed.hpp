// Which libraries passed a Probe, in files of the user's cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mokume::registry {

// The record of one library. It holds while none of the files that were mapped with it has changed (size, times, inode)
// and the variables of the dynamic loader are the same. Failures are not recorded, because their causes (a driver, a
// full disk) may be elsewhere.
class Passed {
 public:
  // `directory`: the user's cache, or "" to know and remember nothing.
  Passed(const std::string& directory, const std::string& library);

  const std::string& file() const { return file_; }
  bool known() const { return known_; }
  bool damaged() const { return damaged_; }  // the record cannot be read
  // Never throws: a cache that cannot be written costs time only.
  void remember(const std::vector<std::string>& mapped) const noexcept;

 private:
  std::string library_, file_;
  bool known_ = false, damaged_ = false;
};

}  // namespace mokume::registry
