// Tests that PoCL's devices do not silently disappear if PoCL cannot write to its cache.
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class PoclCache : public testing::Test {
 protected:
  PoclCache() {
    fs::create_directory(place_.path() / "tmp");
    if (!has(place_.mokume("devices").out, kPocl)) skip_ = true;
  }
  Ended with(const std::string& variables, const std::string& arguments) const {
    return place_.shell("env -u POCL_CACHE_DIR " + variables + " TMPDIR=$PWD/tmp " + Place::program() + " " +
                        arguments);
  }

  static constexpr const char* kPocl = "(Portable Computing Language)";
  const std::string home_ = "HOME=/proc/none XDG_CACHE_HOME=/proc/none";  // nobody can create a directory there
  bool skip_ = false;
  Place place_;
};

TEST_F(PoclCache, APrivateFolderTakesThePlaceOfOneThatCannotBeWritten) {
  if (skip_) GTEST_SKIP() << "this machine has no PoCL";
  const Ended listed = with(home_, "devices");
  EXPECT_TRUE(has(listed.out, kPocl)) << listed.out << listed.err;
  const std::string folder = "tmp/mokume-pocl-" + std::to_string(geteuid());
  EXPECT_TRUE(has(listed.err, "PoCL cannot write to its cache /proc/none/pocl/kcache, so it keeps its kernels in "))
      << listed.err;
  EXPECT_TRUE(has(listed.err, folder + ": set POCL_CACHE_DIR")) << listed.err;
  EXPECT_EQ(fs::status(place_.path() / folder).permissions(), fs::perms::owner_all);
  place_.write("e.toml", small_experiment("pocl", 100));
  const Ended run = with(home_, "run e.toml");
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(PoclCache, AFolderThatOthersMayWriteIsNotTaken) {
  if (skip_) GTEST_SKIP() << "this machine has no PoCL";
  const fs::path folder = place_.path() / "tmp" / ("mokume-pocl-" + std::to_string(geteuid()));
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::all);
  const Ended listed = with(home_, "devices");
  EXPECT_FALSE(has(listed.out, kPocl)) << listed.out;
  EXPECT_TRUE(has(listed.err, "set POCL_CACHE_DIR to a folder that you may write to")) << listed.err;
}

TEST_F(PoclCache, WithoutAHomeNothingIsSharedWithOthers) {
  if (skip_) GTEST_SKIP() << "this machine has no PoCL";
  const Ended listed = with("-u HOME -u XDG_CACHE_HOME", "devices");
  EXPECT_TRUE(has(listed.out, kPocl)) << listed.out << listed.err;
  EXPECT_TRUE(
      has(listed.err, "PoCL would share its cache with other users in /tmp/pocl/kcache, so it keeps its kernels in "))
      << listed.err;
}

TEST_F(PoclCache, AFolderThatOthersMayReplaceIsNotTaken) {
  if (skip_) GTEST_SKIP() << "this machine has no PoCL";
  fs::permissions(place_.path() / "tmp", fs::perms::all);  // without the sticky bit
  EXPECT_FALSE(has(with(home_, "devices").out, kPocl));
  EXPECT_FALSE(fs::exists(place_.path() / "tmp" / ("mokume-pocl-" + std::to_string(geteuid()))));
}

TEST_F(PoclCache, TheCureIsNamedWhereTheUserChoseTheFolder) {
  if (skip_) GTEST_SKIP() << "this machine has no PoCL";
  place_.write("e.toml", small_experiment("pocl", 100));
  const std::string cure = "cannot write to its cache /proc/none: set POCL_CACHE_DIR to a folder that you may write to";
  const std::string named = "XDG_CACHE_HOME=$PWD/cache POCL_CACHE_DIR=/proc/none";
  for (const char* command : {"run e.toml", "check e.toml"}) {
    const Ended refused = with(named, command);
    EXPECT_EQ(refused.code, 4) << command;
    EXPECT_TRUE(has(refused.err, cure)) << command << ": " << refused.err;
  }
  EXPECT_TRUE(has(with(named, "doctor").err, cure)) << "also from the cached probe";
  EXPECT_FALSE(has(with(named, "doctor").err, "POCL_DEVICES"));
  EXPECT_TRUE(has(with("XDG_CACHE_HOME=$PWD/cache", "devices").out, kPocl)) << "the failure is not cached";
}

}  // namespace
}  // namespace mokume::cli_test
