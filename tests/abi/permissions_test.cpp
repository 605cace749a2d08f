// Tests that only root and this user can change a loaded library, the links to it, and the directories above them.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <thread>

#include "registry/permissions.hpp"
#include "zoo/registry_place.hpp"

namespace mokume::registry {
namespace {

constexpr id_t kSomebody = 12345;  // id of a user and a group that do not exist here

class Permissions : public RegistryTest {
 protected:
  // Returns the load report's entry for backend "good" of a tree.
  LoadEntry entry_of(const std::string& tree) const {
    Registry registry(host_.table(), {root_ + "/" + tree});
    const Library* library = registry.try_load(MK_PLUGIN_BACKEND, "good");
    const LoadEntry entry = registry.report().at(0);
    EXPECT_EQ(library != nullptr, entry.loaded);
    return entry;
  }

  void expect_refused(const std::string& tree, const std::string& phrase) const {
    const LoadEntry entry = entry_of(tree);
    EXPECT_EQ(entry.stage, "permissions") << entry.text;
    EXPECT_TRUE(contains(entry.text, phrase)) << entry.text;
    EXPECT_TRUE(host_.lines.empty()) << "it ran";
  }

  // Gives a file or directory to a group that others may share with this process. Returns false if there is none.
  static bool share(const std::string& path, mode_t mode) {
    gid_t group = kSomebody;
    if (geteuid() == 0) {
      if (setgroups(1, &group) != 0) return false;
    } else {
      std::vector<gid_t> groups(64);
      const int n = getgroups(64, groups.data());
      const auto other =
          std::find_if(groups.begin(), groups.begin() + std::max(0, n), [](gid_t one) { return one != getegid(); });
      if (other == groups.begin() + std::max(0, n)) return false;
      group = *other;
    }
    return chown(path.c_str(), static_cast<uid_t>(-1), group) == 0 && chmod(path.c_str(), mode) == 0;
  }
};

TEST_F(Permissions, AFileThatOthersMayWriteIsRefused) {
  const std::string path = install("good");
  for (const mode_t mode : {0757, 0666}) {
    chmod(path.c_str(), mode);
    expect_refused("a", "others may write to the file '" + path);
    expect_refused("a", "chmod go-w " + path);
  }
}

TEST_F(Permissions, TheDirectoryOfALibraryThatOthersMayWriteIsRefusedEvenIfItIsSticky) {
  install("good");
  for (const mode_t mode : {0777, 01777}) {
    chmod((root_ + "/a/backends").c_str(), mode);
    expect_refused("a", "chmod go-w " + root_ + "/a/backends");
  }
}

TEST_F(Permissions, EveryDirectoryAboveCounts) {
  install("good", "backends", "up/and/further");
  for (const char* above : {"/up/and/further", "/up/and", "/up"}) {
    chmod((root_ + above).c_str(), 0777);
    expect_refused("up/and/further",
                   "others may write to the directory '" + root_ + above + "' (mode 0777): chmod go-w");
    chmod((root_ + above).c_str(), 0755);
  }
  chmod((root_ + "/up").c_str(), 01777);  // like /tmp, which contains root_
  EXPECT_TRUE(entry_of("up/and/further").loaded);
}

TEST_F(Permissions, NobodyElseOwnsAFileOrADirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = install("good", "backends", "up/a");
  for (const std::string& given : {path, root_ + "/up/a/backends", root_ + "/up"}) {
    ASSERT_EQ(chown(given.c_str(), kSomebody, static_cast<gid_t>(-1)), 0);
    expect_refused("up/a", "'" + given + "' belongs to user 12345, not to root or user 0");
    ASSERT_EQ(chown(given.c_str(), 0, static_cast<gid_t>(-1)), 0);
  }
  EXPECT_TRUE(entry_of("up/a").loaded);
}

TEST_F(Permissions, AFileThatIsNotRegularIsRefused) {
  fs::create_directory(directory("a") + "/backends/folder.so");
  EXPECT_TRUE(contains(refusal("folder", "permissions"), "not a regular file"));
  ASSERT_EQ(mkfifo((directory("a") + "/backends/pipe.so").c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal("pipe", "permissions"), "not a regular file"));
}

// ---- symbolic links

TEST_F(Permissions, LinksToAGoodLibraryAreAccepted) {
  const std::string target = install("good", "backends", "elsewhere");
  fs::create_symlink(target, directory("a") + "/backends/good.so");
  EXPECT_TRUE(entry_of("a").loaded);
  fs::create_directories(root_ + "/b");
  fs::create_symlink("../elsewhere/./backends/..//backends", root_ + "/b/backends");
  fs::create_symlink("b", root_ + "/c");
  Registry registry(host_.table(), {root_ + "/c"});
  EXPECT_EQ(registry.load(MK_PLUGIN_BACKEND, "good").path, target);
}

TEST_F(Permissions, ALinkIsRefusedIfItsTargetWouldBe) {
  const std::string target = install("good", "backends", "elsewhere");
  fs::create_symlink(target, directory("a") + "/backends/good.so");
  fs::create_symlink(root_ + "/nowhere", directory("a") + "/backends/dangling.so");
  chmod((root_ + "/elsewhere/backends").c_str(), 0777);
  EXPECT_TRUE(contains(refusal("good", "permissions"), root_ + "/elsewhere/backends"));
  EXPECT_TRUE(contains(refusal("dangling", "permissions"), "cannot be resolved"));
}

TEST_F(Permissions, TheDirectoryOfEachLinkCounts) {
  const std::string target = install("good", "backends", "elsewhere");
  fs::create_directories(root_ + "/hop");
  fs::create_symlink(target, root_ + "/hop/good.so");
  fs::create_symlink(root_ + "/hop/good.so", directory("a") + "/backends/good.so");
  EXPECT_TRUE(entry_of("a").loaded);
  host_.lines.clear();
  for (const mode_t mode : {0777, 01777}) {
    chmod((root_ + "/hop").c_str(), mode);
    expect_refused("a", "others may write to the directory '" + root_ + "/hop'");
  }
}

TEST_F(Permissions, ALinkOfAnotherUserInAStickyDirectoryIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  install("good", "backends", "elsewhere");
  fs::create_directories(root_ + "/open");
  chmod((root_ + "/open").c_str(), 01777);
  fs::create_symlink(root_ + "/elsewhere", root_ + "/open/a");
  EXPECT_TRUE(entry_of("open/a").loaded);
  host_.lines.clear();
  ASSERT_EQ(lchown((root_ + "/open/a").c_str(), kSomebody, static_cast<gid_t>(-1)), 0);
  expect_refused("open/a", "the link '" + root_ + "/open/a' belongs to user 12345");
}

TEST_F(Permissions, LinksWithoutAnEndAreRefused) {
  fs::create_symlink("loop.so", directory("a") + "/backends/loop.so");
  EXPECT_TRUE(contains(refusal("loop", "permissions"), "too many symbolic links"));
}

// ---- groups

TEST_F(Permissions, WhatAGroupMayWriteIsRefusedUnlessTheEnvironmentTrustsGroups) {
  const std::string path = install("good", "backends", "up/a");
  for (const std::string& shared : {path, root_ + "/up/a/backends", root_ + "/up"}) {
    const mode_t before = fs::is_directory(shared) ? 02775 : 0775;
    if (!share(shared, before)) GTEST_SKIP() << "this user is in one group only";
    unsetenv(kTrustGroupVariable);
    expect_refused("up/a", "may write to the");
    expect_refused("up/a", "chmod go-w " + shared + ", or set MOKUME_TRUST_GROUP_WRITABLE=1 if you trust everyone");
    for (const char* value : {"", "0", "yes"}) {
      setenv(kTrustGroupVariable, value, 1);
      expect_refused("up/a", "may write to the");
    }
    setenv(kTrustGroupVariable, "1", 1);
    const LoadEntry entry = entry_of("up/a");
    EXPECT_TRUE(entry.loaded) << entry.text;
    EXPECT_TRUE(contains(entry.warning, "may write to the ")) << entry.warning;
    EXPECT_TRUE(contains(entry.warning, "'" + shared + "', which MOKUME_TRUST_GROUP_WRITABLE accepts"))
        << entry.warning;
    host_.lines.clear();
    chmod(shared.c_str(), before | S_IWOTH);
    expect_refused("up/a", "others may write to the");
    chmod(shared.c_str(), 0755);
    const LoadEntry own = entry_of("up/a");
    EXPECT_TRUE(own.loaded) << own.text;
    EXPECT_EQ(own.warning, "") << "nothing is shared, so nothing is to be accepted";
    host_.lines.clear();
  }
}

TEST_F(Permissions, GroupsOfOthersAreNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to such a group";
  const std::string path = install("good");
  setenv(kTrustGroupVariable, "1", 1);
  const gid_t mine = kSomebody + 1;
  ASSERT_EQ(setgroups(1, &mine), 0);
  ASSERT_EQ(chown(path.c_str(), static_cast<uid_t>(-1), kSomebody), 0);
  chmod(path.c_str(), 0775);
  expect_refused("a", "the group 12345 may write to the file");
}

// ---- changes between the check and the load

// Exchanges two names as fast as it can while `body` runs. If this process is root, another user exchanges them.
void while_exchanging(const std::string& one, const std::string& other, const std::function<void()>& body) {
  const pid_t attacker = fork();
  if (attacker == 0) {
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kSomebody) != 0 || setuid(kSomebody) != 0)) _exit(1);
    for (;;) renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  }
  body();
  kill(attacker, SIGKILL);
  waitpid(attacker, nullptr, 0);
}

class Renamed : public Permissions {
 protected:
  // Installs a good library and, in its place, one that must not run, because others may write to its directory.
  Renamed() {
    install("good", "backends", "up/a");
    install("start_fails", "backends", "up/b", "good");
    chmod((root_ + "/up/b/backends").c_str(), 0777);
    chmod(root_.c_str(), 0755);  // lets another user pass
  }
};

TEST_F(Renamed, ADirectoryThatOthersMayRenameIsNeverUsed) {
  chmod((root_ + "/up").c_str(), 0777);
  while_exchanging(root_ + "/up/a", root_ + "/up/b", [&] {
    for (int k = 0; k < 2000; ++k) expect_refused("up/a", "others may write to the directory");
  });
}

TEST_F(Renamed, OthersCannotRenameWhatTheStickyBitProtects) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  chmod((root_ + "/up").c_str(), 01777);
  while_exchanging(root_ + "/up/a", root_ + "/up/b", [&] {
    for (int k = 0; k < 2000; ++k) ASSERT_TRUE(entry_of("up/a").loaded);
  });
}

}  // namespace
}  // namespace mokume::registry
