// Remembers in the user's cache which libraries passed a Probe.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mokume::registry {

// Keeps the record of a library that passed. The record is valid while the files that were mapped with the library
// (size, times, inode) and the variables of the dynamic loader stay the same. Failures leave no record, because their
// causes (a driver, a full disk) may lie elsewhere.
class Passed {
 public:
  // `directory` is the user's cache; "" disables the record.
  Passed(const std::string& directory, const std::string& library);

  const std::string& file() const { return file_; }
  bool known() const { return known_; }
  bool damaged() const { return damaged_; }  // the record cannot be read
  // Never throws, because an unwritable cache only costs time.
  void remember(const std::vector<std::string>& mapped) const noexcept;

 private:
  std::string library_, file_;
  bool known_ = false, damaged_ = false;
};

}  // namespace mokume::registry
