// Tests that prune selects by its rules, keeps everything else, and removes nothing without --yes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Makes a finished run, two copies of it with older stamps, and an unfinished run of another experiment.
class Prune : public testing::Test {
 protected:
  Prune() {
    place_.write("e.toml", small_experiment("host", 200));
    EXPECT_EQ(place_.mokume("run e.toml").code, 0);
    newest_ = place_.run("small").filename().string();
    for (const char* stamp : {"2020-01-01_000000", "2021-01-01_000000"})
      fs::copy(place_.run_of("small", newest_), place_.path() / "runs/small" / stamp, fs::copy_options::recursive);
    EXPECT_EQ(place_.mokume("run e.toml --set name=later --max-time 0s").code, 75);
  }
  Ended prune(const std::string& arguments) const {
    return place_.shell("XDG_CACHE_HOME=$PWD/cache " + Place::program() + " prune " + arguments);
  }
  bool there(const std::string& run) const { return fs::exists(place_.path() / "runs" / run); }

  struct Runs : Place {
    fs::path run_of(const std::string& name, const std::string& stamp) const { return path() / "runs" / name / stamp; }
  };
  Runs place_;
  std::string newest_;
};

TEST_F(Prune, SaysWhatItWouldRemoveAndRemovesItOnlyWhenTold) {
  const Ended would = prune("--keep 1");
  EXPECT_EQ(would.code, 0) << would.err;
  for (const char* run : {"2020-01-01_000000", "2021-01-01_000000"})
    EXPECT_TRUE(has(would.out, "would remove runs/small/" + std::string(run) + " (finished, ")) << would.out;
  EXPECT_FALSE(has(would.out, newest_) || has(would.out, "later")) << would.out;
  EXPECT_TRUE(has(would.err, "nothing was removed: add --yes to remove them\n")) << would.err;
  EXPECT_TRUE(there("small/2020-01-01_000000"));

  const Ended removed = prune("--keep 1 --yes");
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_TRUE(has(removed.out, "removed runs/small/2020-01-01_000000 (")) << removed.out;
  EXPECT_TRUE(has(removed.err, "freed ")) << removed.err;
  EXPECT_FALSE(there("small/2020-01-01_000000") || there("small/2021-01-01_000000"));
  EXPECT_TRUE(there("small/" + newest_));
  EXPECT_EQ(prune("--keep 1").err, "there is nothing to remove\n");

  EXPECT_EQ(prune("--keep 0 --yes").code, 0);
  EXPECT_FALSE(there("small")) << "the directory of an experiment without runs";
  EXPECT_TRUE(there("later")) << "it is unfinished";
  EXPECT_EQ(prune("--keep 0 --yes --unfinished").code, 0);
  EXPECT_FALSE(there("later"));
}

TEST_F(Prune, SelectsByAgeAndSize) {
  EXPECT_EQ(prune("--older-than 1d").err, "there is nothing to remove\n");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 40);
  const fs::path old = place_.run_of("small", "2020-01-01_000000");
  fs::last_write_time(old / "run.json", long_ago);
  for (const auto& journal : fs::directory_iterator(old / "journal")) fs::last_write_time(journal, long_ago);
  const Ended aged = prune("--older-than 30d");
  EXPECT_TRUE(has(aged.out, "would remove runs/small/2020-01-01_000000 (finished, 40 d 00 h old, ")) << aged.out;
  EXPECT_FALSE(has(aged.out, "2021")) << aged.out;

  place_.write("runs/small/2021-01-01_000000/models/big", std::string(20 << 20, 'x'));
  const Ended large = prune("--larger-than 10M");
  EXPECT_TRUE(has(large.out, "would remove runs/small/2021-01-01_000000 (")) << large.out;
  EXPECT_FALSE(has(large.out, "2020")) << large.out;
  EXPECT_EQ(prune("--larger-than 10G").err, "there is nothing to remove\n");
}

TEST_F(Prune, RemovesCheckpointsOfFinishedRunsAndOldKernels) {
  fs::create_directories(place_.run_of("small", newest_) / "scratch/fit-000001");
  place_.write("runs/small/" + newest_ + "/scratch/fit-000001/checkpoint", "x");
  fs::create_directories(place_.path() / "cache/mokume/opencl/programs");
  for (const char* name : {"old", "new"}) place_.write(std::string("cache/mokume/opencl/programs/") + name, "kernel");
  fs::last_write_time(place_.path() / "cache/mokume/opencl/programs/old",
                      fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
  const Ended would = prune("--older-than 30d");
  EXPECT_TRUE(has(would.out, "/scratch (checkpoints of a finished run, ")) << would.out;
  EXPECT_FALSE(has(would.out, "cache/")) << "the cache belongs to all runs, not to this directory: " << would.out;
  EXPECT_FALSE(has(prune("--larger-than 1B runs").out, "cache/")) << would.out;
  EXPECT_TRUE(has(prune("--larger-than 1B --cache").out, "cache/mokume/opencl (built kernels, ")) << would.out;
  const Ended removed = prune("--older-than 30d --cache --yes");
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_TRUE(has(removed.out, "/scratch (checkpoints of a finished run, ")) << removed.out;
  EXPECT_FALSE(there("small/" + newest_ + "/scratch"));
  EXPECT_TRUE(there("small/" + newest_ + "/run.json"));
  EXPECT_FALSE(fs::exists(place_.path() / "cache/mokume/opencl/programs/old"));
  EXPECT_TRUE(fs::exists(place_.path() / "cache/mokume/opencl/programs/new"));
}

TEST_F(Prune, KeepsRunsInUseAndTargetsOfLinks) {
  fs::create_directory(place_.path() / "precious");
  place_.write("precious/file", "x");
  fs::create_directory_symlink(place_.path() / "precious", place_.run_of("small", "2020-01-01_000000") / "models/link");
  fs::create_directory(place_.path() / "elsewhere");
  fs::rename(place_.run_of("small", "2021-01-01_000000"), place_.path() / "elsewhere/run");
  fs::create_directory_symlink(place_.path() / "elsewhere/run", place_.run_of("small", "2021-01-01_000000"));
  const int lock = open((place_.run_of("small", newest_) / "lock").c_str(), O_RDWR);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  EXPECT_EQ(prune("--keep 0 --yes --unfinished").code, 0);
  close(lock);
  EXPECT_TRUE(there("small/" + newest_)) << "a process holds it";
  EXPECT_FALSE(there("small/2020-01-01_000000"));
  EXPECT_TRUE(fs::exists(place_.path() / "precious/file"));
  EXPECT_TRUE(fs::exists(place_.path() / "elsewhere/run/run.json"));
}

TEST_F(Prune, LeavesDamagedRunsToTheUser) {
  place_.write("runs/small/2020-01-01_000000/run.json", "{");
  const Ended kept = prune("--keep 0 --yes --unfinished");
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_TRUE(has(kept.err, "runs/small/2020-01-01_000000 is damaged and stays")) << kept.err;
  EXPECT_TRUE(there("small/2020-01-01_000000"));
}

TEST_F(Prune, NeedsOneRule) {
  for (const char* wrong : {"", "--yes", "--keep 1 --older-than 1d", "--older-than soon", "--larger-than much",
                            "--keep -1", "nowhere --keep 1", "--keep 1 --cache"})
    EXPECT_EQ(prune(wrong).code, 2) << wrong;
  EXPECT_TRUE(there("small/2020-01-01_000000"));
}

}  // namespace
}  // namespace mokume::cli_test
