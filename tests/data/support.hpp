// Provides a scratch directory for each test, and checks of errors.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "sdk/error.hpp"

namespace mokume::data {

class DataTest : public testing::Test {
 protected:
  DataTest() {
    std::string name = testing::TempDir() + "mokume-data-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~DataTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string write_gz(const std::string& name, const std::string& content) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return path(name);
  }

  std::string directory_;
};

// Sets an environment variable until the end of the block or, without a value, removes it.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    const char* const old = std::getenv(name);
    if (old != nullptr) old_ = old;
    set(value);
  }
  ~Environment() { set(old_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

// Expects `body` to throw an Error with this status and with all the words in its text.
inline void expect_error(mk_status status, const std::vector<std::string>& words, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << "no '" << word << "' in: " << e.what();
    return;
  }
  ADD_FAILURE() << "no error" << (words.empty() ? "" : " about " + words.front());
}

inline std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

// Returns an IDX file of unsigned bytes.
inline std::string idx(std::initializer_list<uint32_t> dimensions, const std::string& values) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(dimensions.size())};
  for (const uint32_t d : dimensions) text += big_endian(d);
  return text + values;
}

inline DataSpec spec(const std::string& source, const std::string& path, const std::string& test = "") {
  DataSpec result;
  result.source = source;
  result.path = path;
  result.test = test;
  return result;
}

}  // namespace mokume::data
