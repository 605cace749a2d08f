// Remembers in the user's cache which files passed a check, so that the next process need not check them again.
#pragma once

#include <string>
#include <vector>

namespace mokume::base {

// Identifies the content of each file without reading it: by size, times and inode.
std::vector<std::string> states_of(const std::vector<std::string>& files);

// Keeps the record of something that passed. The record is valid while all its files and the circumstances stay the
// same. Failures leave no record, because their causes (a driver, a full disk) may lie elsewhere.
class Passed {
 public:
  // `cache` is the user's cache; "" disables the record. `check` names the check, and `what` is the path of what
  // passes.
  Passed(const std::string& cache, const std::string& check, std::string what,
         std::vector<std::string> circumstances = {});

  const std::string& file() const { return file_; }
  bool known() const { return known_; }
  bool damaged() const { return damaged_; }  // the record cannot be read
  // `states` are those of the files before the check. Never throws, because an unwritable cache only costs time.
  void remember(const std::vector<std::string>& files, const std::vector<std::string>& states) const noexcept;

 private:
  std::string what_, file_;
  std::vector<std::string> circumstances_;
  bool known_ = false, damaged_ = false;
};

}  // namespace mokume::base
