// Provides the cache directory of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sdk/error.hpp"

namespace mokume::test {

// Makes a temporary directory and removes it at the end, or uses the directory that MOKUME_TEST_CACHE names. That
// directory stays, so that a driver's slow compiler builds each kernel only once for all tests.
class CacheDirectory {
 public:
  CacheDirectory() {
    if (const char* named = std::getenv("MOKUME_TEST_CACHE")) {
      path_ = named;
      std::filesystem::create_directories(path_);
      return;
    }
    path_ = (std::filesystem::temp_directory_path() / "mokume-test-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw Error(MK_INTERNAL, "cannot create a directory like " + path_);
    temporary_ = true;
  }
  ~CacheDirectory() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
  }
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

}  // namespace mokume::test
