// Makes a directory for one test and removes it with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sdk/error.hpp"

namespace mokume::test {

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mokume-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error(MK_INTERNAL, "cannot create a directory like " + pattern);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mokume::test
