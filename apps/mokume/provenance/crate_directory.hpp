// Writes the files of a crate: a directory that appears under its name when it is complete.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.hpp"

namespace mokume::app {

struct CrateFile {
  std::string name;  // below the crate, such as "models/best/manifest.json"
  std::string sha256;
  uint64_t bytes = 0;
};

class CrateDirectory {
 public:
  // Creates a directory beside `path`, which must not exist. Throws Error(MK_INVALID_ARGUMENT) if it does, and
  // sdk::storage_error() on failure.
  explicit CrateDirectory(const std::string& path);
  ~CrateDirectory();  // removes what was written, unless finish() was called
  CrateDirectory(const CrateDirectory&) = delete;
  CrateDirectory& operator=(const CrateDirectory&) = delete;

  const std::string& path() const { return unfinished_; }  // directory that holds the files so far

  void write(const std::string& name, std::string_view text) const;
  // Copies a file of any size. Throws Error(MK_BAD_DATA) unless it is a regular file that can be read.
  void copy(const base::Below& from, const std::string& name) const;

  // Returns all files, sorted by name.
  std::vector<CrateFile> files() const;

  // Gives the directory its name.
  void finish();

 private:
  std::string path_, unfinished_;
};

}  // namespace mokume::app
