// Tests that a failure to write names its cause, a cure that helps, and whether repeating the command helps.
#include "sdk/storage.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "support/expect.hpp"
#include "support/scratch.hpp"

namespace mokume::sdk {
namespace {

Error failure_of(const std::string& path, const std::string& text) {
  try {
    OutputFile file(path);
    file.append(text);
    file.close();
  } catch (const Error& e) {
    return e;
  }
  return {MK_OK, "nothing was thrown"};
}

TEST(Storage, AFullDiskIsNamedAndPasses) {
  const Error full = failure_of("/dev/full", "x");
  EXPECT_EQ(full.status(), MK_STORAGE);
  EXPECT_STREQ(full.what(),
               "cannot write '/dev/full': the disk is full; free space there and run the same command again");
  const Error quota = storage_error("write 'x'", EDQUOT);
  EXPECT_EQ(quota.status(), MK_STORAGE);
  EXPECT_HAS(std::string(quota.what()), "the quota of the disk is used up; free space there");
}

TEST(Storage, ALimitOnTheSizeOfAFileIsNamedAndPasses) {
  const test::Scratch scratch;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const Error limited = failure_of(scratch.path() + "/x", std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  EXPECT_EQ(limited.status(), MK_STORAGE);
  EXPECT_HAS(std::string(limited.what()), "ulimit -f");
}

TEST(Storage, APlaceThatCannotBeWrittenDoesNotPass) {
  const test::Scratch scratch;
  const Error absent = failure_of(scratch.path() + "/no/file", "x");
  EXPECT_EQ(absent.status(), MK_INVALID_ARGUMENT);
  EXPECT_HAS(std::string(absent.what()), "create the directory first");
  EXPECT_EQ(failure_of(scratch.path(), "x").status(), MK_INVALID_ARGUMENT) << "a directory";
  for (const int code : {EACCES, EPERM, EROFS, ENOTDIR, ENAMETOOLONG}) {
    const Error refused = storage_error("write 'x'", code);
    EXPECT_EQ(refused.status(), MK_INVALID_ARGUMENT) << code;
    EXPECT_HAS(std::string(refused.what()), "choose another place");
    EXPECT_HAS_NOT(std::string(refused.what()), "free space");
    EXPECT_HAS_NOT(std::string(refused.what()), "again");
  }
  EXPECT_HAS(std::string(storage_error("create x", EROFS, "choose another with --out").what()), "with --out");
  EXPECT_HAS_NOT(std::string(storage_error("create x", ENOSPC, "choose another with --out").what()), "--out");
}

TEST(Storage, AnErrorHoldsTheLineOfTheCaller) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(storage_error("write 'x'", EIO).thrown_at(), "tests/sdk/storage_test.cpp:" + std::to_string(line));
}

}  // namespace
}  // namespace mokume::sdk
