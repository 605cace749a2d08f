#include "base/below.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/disk.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "sdk/error.hpp"
#include "support/scratch.hpp"

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

// Makes root_ a link to a directory, and victim_ a directory outside it that must stay as it is.
class BelowTest : public testing::Test {
 protected:
  BelowTest() : root_(scratch_.path() + "/root"), victim_(scratch_.path() + "/victim") {
    fs::create_directories(scratch_.path() + "/storage");
    fs::create_directory_symlink("storage", root_);
    fs::create_directory(victim_);
    write_file(victim_ + "/file", "untouched");
  }
  ~BelowTest() override {
    EXPECT_EQ(read_file(victim_ + "/file"), "untouched");
    size_t files = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(victim_)) ++files;
    EXPECT_EQ(files, 1U) << "something was written through a link";
  }
  void link(const std::string& target, const std::string& name) const {
    fs::remove_all(root_ + "/" + name);
    fs::create_symlink(target, root_ + "/" + name);
  }
  Below at(const std::string& name) const { return {root_, name}; }
  void expect_refused(const std::function<void()>& act, const std::string& link) const {
    try {
      act();
      ADD_FAILURE() << link << " was followed";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA);
      EXPECT_EQ(std::string(e.what()).find(root_ + "/" + link + " is a symbolic link"), 0U) << e.what();
    }
  }

  test::Scratch scratch_;
  std::string root_, victim_;
};

TEST_F(BelowTest, TheRootMayBeALink) {
  make_directories(at("a/b"));
  make_directories(at("a/b"));
  write_file(at("a/b/c"), "text");
  EXPECT_EQ(read_file(at("a/b/c")), "text");
  EXPECT_TRUE(exists(at("a/b/c")));
  EXPECT_FALSE(exists(at("a/b/d")));
  EXPECT_FALSE(exists(at("x/y/z")));
  EXPECT_FALSE(exists(at("a/b/c/d")));
  EXPECT_EQ(names_in(at("")), std::vector<std::string>{"a"});
  EXPECT_TRUE(names_in(at("x/y")).empty());
  rename(at("a/b/c"), at("a/d"));
  EXPECT_EQ(read_file(scratch_.path() + "/storage/a/d"), "text");
  refuse_links(at("a"));
  refuse_links(at("x"));
  remove(at("x/y"));
  remove(at("a"));
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(BelowTest, AFileThatIsALinkIsNeitherReadNorWritten) {
  link(victim_ + "/file", "file");
  expect_refused([&] { read_file(at("file")); }, "file");
  expect_refused([&] { write_file(at("file"), "new"); }, "file");
  expect_refused([&] { static_cast<void>(exists(at("file"))); }, "file");
  expect_refused([&] { static_cast<void>(open_below(at("file"), O_RDWR)); }, "file");
  expect_refused([&] { refuse_links(at("")); }, "file");
  link(victim_ + "/none", "file");  // writing through the link would create the file
  expect_refused([&] { static_cast<void>(open_below(at("file"), O_RDWR | O_CREAT, 0644)); }, "file");
  expect_refused([&] { Log().open_file(at("file")); }, "file");
}

TEST_F(BelowTest, ADirectoryThatIsALinkIsNotEntered) {
  link(victim_, "dir");
  for (const std::string name : {"dir/file", "dir/more/file"}) {
    expect_refused([&] { read_file(at(name)); }, "dir");
    expect_refused([&] { write_file(at(name), "new"); }, "dir");
    expect_refused([&] { static_cast<void>(exists(at(name))); }, "dir");
    expect_refused([&] { make_directories(at(name)); }, "dir");
    expect_refused([&] { remove(at(name)); }, "dir");
    expect_refused([&] { Log().open_file(at(name)); }, "dir");
  }
  expect_refused([&] { names_in(at("dir")); }, "dir");
  expect_refused([&] { make_directories(at("dir")); }, "dir");
  expect_refused([&] { rename(at("dir/file"), at("file")); }, "dir");
  expect_refused([&] { static_cast<void>(system_disk().open(root_ + "/dir", "journal")); }, "dir");
}

TEST_F(BelowTest, AJournalThatIsALinkIsNotOpened) {
  make_directories(at("journal"));
  link(victim_ + "/file", "journal/node");
  expect_refused([&] { static_cast<void>(system_disk().open(root_ + "/journal", "node")); }, "journal/node");
}

TEST_F(BelowTest, RemovingALinkLeavesWhatItPointsTo) {
  link(victim_ + "/file", "file");
  link(victim_, "dir");
  make_directories(at("tree/inner"));
  link(victim_, "tree/inner/dir");
  for (const char* name : {"file", "dir", "tree"}) remove(at(name));
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(BelowTest, NamesDoNotLeadOutOfTheRoot) {
  for (const char* name : {"..", "../victim/file", "a/../../victim/file", "."})
    EXPECT_THROW(static_cast<void>(exists(at(name))), Error) << name;
}

}  // namespace
}  // namespace mokume::base
