#include "base/files.hpp"
#include "base/passed.hpp"
#include "base/sealed.hpp"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sdk/error.hpp"

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = testing::TempDir() + "mokume-files-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~Files() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

std::string text_of(const std::function<void()>& body, mk_status status) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(Files, ReadsBackWhatWasWritten) {
  const std::string content("a\0b\n\xff", 5);
  write_file(path("x"), content);
  EXPECT_EQ(read_file(path("x")), content);
  write_file(path("x"), "");
  EXPECT_EQ(read_file(path("x")), "");
}

TEST_F(Files, WritingLeavesNoTemporaryFile) {
  write_file(path("x"), "1");
  write_file(path("x"), "2");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory_)) ++files;
  EXPECT_EQ(files, 1U);
}

TEST_F(Files, AReaderKeepsTheOldContentWhileItIsReplaced) {
  write_file(path("x"), "old");
  std::ifstream reader(path("x"));
  write_file(path("x"), "new");
  std::string word;
  reader >> word;
  EXPECT_EQ(word, "old");
}

TEST_F(Files, AFailedWriteNamesThePathAndLeavesNothing) {
  const std::string missing = path("no/such/file");
  const std::string text = text_of([&] { write_file(missing, "x"); }, MK_INVALID_ARGUMENT);
  EXPECT_NE(text.find(missing), std::string::npos) << text;
  EXPECT_NE(text.find("create the directory first"), std::string::npos) << text;
  fs::create_directory(path("taken"));
  text_of([&] { write_file(path("taken"), "x"); }, MK_INVALID_ARGUMENT);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory_)) ++files;
  EXPECT_EQ(files, 1U);
}

TEST_F(Files, ReadingRefusesNonFilesAndFilesThatAreTooLarge) {
  EXPECT_NE(text_of([&] { read_file(path("none")); }, MK_BAD_DATA).find(path("none")), std::string::npos);
  text_of([&] { read_file(directory_); }, MK_BAD_DATA);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  text_of([&] { read_file(path("pipe")); }, MK_BAD_DATA);
  write_file(path("x"), "12345");
  EXPECT_EQ(read_file(path("x"), 5), "12345");
  EXPECT_NE(text_of([&] { read_file(path("x"), 4); }, MK_BAD_DATA).find(" 4 bytes"), std::string::npos);
}

TEST_F(Files, FilesWithoutASizeAreReadToTheirEnd) {
  EXPECT_NE(read_file("/proc/self/status").find("VmSize"), std::string::npos);
  text_of([&] { read_file("/proc/self/status", 10); }, MK_BAD_DATA);
}

TEST_F(Files, ChecksumsDetectAChangedFile) {
  check_sums(directory_);  // without sums, there is nothing to check
  write_file(path("a"), "abc");
  write_file(path("b"), "");
  fs::create_directory(path("inner"));
  write_sums(directory_);
  check_sums(directory_);
  EXPECT_EQ(read_file(path("SHA256SUMS")), sha256("abc") + "  a\n" + sha256("") + "  b\n");
  write_file(path("a"), "abd");
  EXPECT_NE(text_of([&] { check_sums(directory_); }, MK_BAD_DATA).find(path("a") + " was changed after it was written"),
            std::string::npos);
  fs::remove(path("a"));
  EXPECT_NE(text_of([&] { check_sums(directory_); }, MK_BAD_DATA).find(path("a")), std::string::npos);
  ASSERT_EQ(mkfifo(path("a").c_str(), 0600), 0);
  text_of([&] { check_sums(directory_); }, MK_BAD_DATA);
  for (const std::string& damaged :
       {std::string("nonsense"), sha256("") + "  ../b", sha256("") + " b", std::string("\n")}) {
    write_file(path("SHA256SUMS"), damaged);
    EXPECT_NE(text_of([&] { check_sums(directory_); }, MK_BAD_DATA).find("SHA256SUMS is damaged"), std::string::npos);
  }
  write_file(path("SHA256SUMS"), "");
  EXPECT_NE(text_of([&] { check_sums(directory_); }, MK_BAD_DATA).find("SHA256SUMS is empty"), std::string::npos);
}

// Returns the number of bytes that this process has read from files.
uint64_t bytes_read() {
  const std::string counts = read_file("/proc/self/io");
  return std::stoull(counts.substr(counts.find("rchar: ") + 7));
}

TEST_F(Files, LargeFilesThatPassedAreReadAgainOnlyAfterAChange) {
  constexpr size_t kLarge = size_t{5} << 20;
  const std::string model = path("model"), cache = path("cache");
  fs::create_directory(model);
  write_file(model + "/a", std::string(kLarge, 'a'));
  write_file(model + "/b", "b");
  write_sums(model);
  const auto read_by_check = [&] {
    const uint64_t before = bytes_read();
    EXPECT_TRUE(check_sums(model, "", cache));
    return bytes_read() - before;
  };
  EXPECT_GE(read_by_check(), kLarge);
  EXPECT_LT(read_by_check(), kLarge / 10);

  std::string changed(kLarge, 'a');
  changed[kLarge / 2] = 'b';
  std::ofstream(model + "/a", std::ios::binary) << changed;  // the size stays the same
  EXPECT_NE(text_of([&] { check_sums(model, "", cache); }, MK_BAD_DATA).find("model/a was changed"), std::string::npos);
  write_file(model + "/a", std::string(kLarge, 'a'));
  EXPECT_GE(read_by_check(), kLarge) << "the file is another one with the same content";
  EXPECT_LT(read_by_check(), kLarge / 10);
  write_file(model + "/SHA256SUMS", read_file(model + "/SHA256SUMS"));
  EXPECT_GE(read_by_check(), kLarge) << "the sums are others";
  fs::remove(model + "/b");
  EXPECT_NE(text_of([&] { check_sums(model, "", cache); }, MK_BAD_DATA).find("model/b"), std::string::npos);
}

TEST_F(Files, ADamagedRecordOfWhatPassedCountsForNothing) {
  const std::string file = path("a");
  write_file(file, "abc");
  const Passed first(path("cache"), "checks", "it");
  EXPECT_FALSE(first.known());
  first.remember({file}, states_of({file}));
  const std::string record = first.file(), content = read_file(record);
  EXPECT_TRUE(Passed(path("cache"), "checks", "it").known());
  EXPECT_FALSE(Passed(path("cache"), "checks", "it", {"other circumstances"}).known());
  EXPECT_FALSE(Passed("", "checks", "it").known());
  for (size_t at = 0; at + 1 < content.size(); at += 7) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file(record, damaged);
    const Passed read(path("cache"), "checks", "it");
    EXPECT_FALSE(read.known()) << at;
    EXPECT_TRUE(read.damaged()) << at;
  }
}

TEST_F(Files, ARecordOfAnotherVersionIsNotDamaged) {
  fs::create_directories(path("cache/checks"));
  write_file(Passed(path("cache"), "checks", "it").file(), seal(R"({"library":"it","files":[],"states":[]})"));
  const Passed read(path("cache"), "checks", "it");
  EXPECT_FALSE(read.known());
  EXPECT_FALSE(read.damaged());
}

TEST(Sha256Test, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  pieces.update("a", 1);
  pieces.update("bc", 2);
  EXPECT_EQ(pieces.hex(), sha256("abc"));
}

// Sets a variable for one test and restores its old value.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = secure_getenv(name)) old_ = old, was_set_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { was_set_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool was_set_ = false;
};

TEST_F(Files, TheCacheDirectoryIsCreatedPrivate) {
  const Environment xdg("XDG_CACHE_HOME", path("a/b"));
  EXPECT_EQ(cache_directory(), path("a/b/mokume"));
  EXPECT_EQ(fs::status(path("a/b/mokume")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(cache_directory(), path("a/b/mokume"));  // the directory exists already
}

TEST_F(Files, ARelativeCacheHomeIsIgnored) {
  const Environment xdg("XDG_CACHE_HOME", "relative");
  const Environment home("HOME", directory_);
  EXPECT_EQ(cache_directory(), path(".cache/mokume"));
  EXPECT_FALSE(fs::exists("relative"));
}

TEST_F(Files, WithoutHomeTheCacheIsWhereTheUserDatabaseSays) {
  const Environment home("HOME", ""), xdg("XDG_CACHE_HOME", "");
  unsetenv("HOME");
  const passwd* const me = getpwuid(geteuid());
  if (me == nullptr || !fs::is_directory(me->pw_dir) || access(me->pw_dir, W_OK) != 0)
    GTEST_SKIP() << "this user has no home directory";
  EXPECT_EQ(cache_directory(), std::string(me->pw_dir) + "/.cache/mokume");
}

TEST_F(Files, NoCacheIsUsedIfOthersMayWriteOrCreationFails) {
  const Environment home("HOME", directory_);
  {
    const Environment xdg("XDG_CACHE_HOME", directory_);
    fs::create_directory(path("mokume"));
    fs::permissions(path("mokume"), fs::perms::all);
    EXPECT_EQ(cache_directory(), "");
  }
  write_file(path("file"), "");
  const Environment xdg("XDG_CACHE_HOME", path("file"));
  EXPECT_EQ(cache_directory(), "");
}

}  // namespace
}  // namespace mokume::base
