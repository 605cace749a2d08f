// Tests ranks of one host, and nodes that do not share a file system.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Without OpenCL drivers, listing devices is fast, and the host device is enough here.
const std::string kMpirun =
    "OCL_ICD_VENDORS=/nowhere OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun "
    "--oversubscribe --bind-to none ";

// Returns a command for two ranks. The second rank sees an empty file system at `shared`.
std::string with_a_blind_rank(const std::string& command) {
  const std::string program = Place::program() + " " + command;
  return kMpirun +
         by_rank(program, "unshare -m sh -c " + test::shell_word("mount -t tmpfs none shared && exec " + program));
}

bool may_mount() { return std::system("unshare -m sh -c 'mount -t tmpfs none /mnt' 2>/dev/null") == 0; }

class Hosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  }
  Place place_;
};

TEST_F(Hosts, RanksOfOneHostGetSeparateCores) {
  const Ended ended = place_.shell(kMpirun + "-np 2 " + Place::program() + " doctor");
  ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  const std::regex line("  [01] +[^ ]+ +([0-9,-]+) +yes .* ms");
  std::multiset<std::string> cores;
  std::istringstream lines(ended.out);
  for (std::string text; std::getline(lines, text);)
    if (std::smatch found; std::regex_match(text, found, line)) cores.insert(found[1]);
  ASSERT_EQ(cores.size(), 2u) << ended.out;
  const bool one_core = ended.out.find("compete for too few cores") != std::string::npos;
  EXPECT_EQ(*cores.begin() == *cores.rbegin(), one_core) << ended.out;
}

TEST_F(Hosts, DoctorWarnsOfANodeThatDoesNotSeeTheDirectory) {
  if (!may_mount()) GTEST_SKIP() << "only root may give a rank a file system of its own";
  fs::create_directories(place_.path() / "shared");
  const Ended ended = place_.shell(with_a_blind_rank("doctor --out shared/runs"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.out.find("warning: the nodes marked NO"), std::string::npos) << ended.out;
  EXPECT_TRUE(std::regex_search(ended.out, std::regex("\n  1 .* NO +tmpfs"))) << ended.out;
  EXPECT_TRUE(fs::is_empty(place_.path() / "shared"));
}

TEST_F(Hosts, ARunNamesTheNodesThatDoNotSeeItsDirectory) {
  if (!may_mount()) GTEST_SKIP() << "only root may give a rank a file system of its own";
  fs::create_directories(place_.path() / "shared");
  place_.write("e.toml", small_experiment("host"));
  const Ended ended = place_.shell(with_a_blind_rank("run e.toml --out shared"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("is not visible to node 1 on "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("choose one with --out on a file system that all nodes share"), std::string::npos);
  // On nodes that share the file system, the same command resumes the run.
  const Ended again = place_.shell(kMpirun + "-np 2 " + Place::program() + " run e.toml --out shared");
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Host, TasksOfAPlainSrunAreRefused) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended ended = place.shell("SLURM_STEP_NUM_TASKS=4 " + Place::program() + " run e.toml");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("srun --mpi=pmix"), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(place.path() / "runs"));
}

TEST(Host, ADeviceIsMeasuredOnceAndRemembered) {
  const Place place;
  const std::string devices =
      "OCL_ICD_VENDORS=/nowhere XDG_CACHE_HOME=$PWD/cache " + Place::program() + " devices --json";
  const auto host = [](const Ended& ended) {
    for (const auto& d : nlohmann::json::parse(ended.out))
      if (d["id"] == "host:0") return d;
    return nlohmann::json();
  };
  EXPECT_FALSE(host(place.shell(devices)).contains("gflops"));
  const auto measured = host(place.shell(devices + " --probe"));
  ASSERT_TRUE(measured.contains("gflops"));
  EXPECT_GT(measured["gflops"], 0);
  EXPECT_GT(measured["gbytes_s"], 0);
  EXPECT_EQ(host(place.shell(devices)), measured);
}

// A single device needs no speed, so none is measured.
TEST(Host, OnlyARunOnSeveralDevicesMeasuresThem) {
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended alone = place.shell("XDG_CACHE_HOME=$PWD/cache " + Place::program() + " run e.toml");
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const auto& entry : fs::directory_iterator(place.path() / "cache/mokume"))
    EXPECT_NE(entry.path().filename().string().substr(0, 6), "speed-");
}

}  // namespace
}  // namespace mokume::cli_test
