// Tests that a run on a full disk says so and resumes, and that what repeating cannot cure does not end with 75.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// A limit on the size of files stands for a full disk, as it fails in the same calls.
TEST(FullDisk, ARunKeepsItsFitsAndTheSameCommandResumesIt) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended full = place.shell("ulimit -f 4 && " + Place::program() + " run e.toml");
  EXPECT_EQ(full.code, 75) << full.err;
  EXPECT_TRUE(has(full.err, "run the same command again; the run keeps its finished fits and can be resumed\n"))
      << full.err;
  const std::string stamp = place.run("small").filename().string();
  const Ended resumed = place.mokume("run e.toml");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(has(resumed.err, "resuming ")) << resumed.err;
  EXPECT_EQ(place.run("small").filename().string(), stamp);
}

TEST(FullDisk, OnlyAFailureThatPassesEndsWith75) {
  const Place place;
  const std::string info = Place::program() + " data info digits,limit=10";
  const Ended full = place.shell(info + " >/dev/full");
  EXPECT_EQ(full.code, 75);
  EXPECT_TRUE(has(full.err, "the disk is full")) << full.err;
  EXPECT_EQ(place.shell(info + " >&-").code, 2) << "a closed output stays closed";
  const Ended fetch = place.shell("XDG_CACHE_HOME=/proc/none " + Place::program() + " data fetch mnist");
  EXPECT_EQ(fetch.code, 2);
  EXPECT_TRUE(has(fetch.err, "set XDG_CACHE_HOME")) << fetch.err;
}

}  // namespace
}  // namespace mokume::cli_test
