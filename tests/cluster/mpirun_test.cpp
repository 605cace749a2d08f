// Real ranks under mpirun: over shared memory, and over TCP on loopback, which behaves as two machines do.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "cluster/fixtures.hpp"
#include "journal/read.hpp"

namespace mokume::cluster {
namespace {

struct Ended {
  int code = -1;
  std::string output;
};

Ended shell(const std::string& command) {
  Ended ended;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) ended.output.append(buffer, n);
  const int status = pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

constexpr const char* k_shared_memory = "";
constexpr const char* k_tcp = "--mca btl tcp,self --mca btl_tcp_if_include lo";

class Mpirun : public testing::Test {
 protected:
  void SetUp() override {
    const Ended version = shell("mpirun --version");
    if (version.output.find("Open MPI") == std::string::npos) {
      GTEST_SKIP() << "there is no mpirun of Open MPI here (package openmpi-bin)";
    }
  }

  // The program as `ranks` ranks; 0: on its own, without a launcher.
  static Ended run(uint32_t ranks, const Scratch& scratch, const std::string& arguments,
                   const char* network = k_shared_memory) {
    std::string command = "timeout -k 5 100 ";
    if (ranks > 0) {
      // Open MPI keeps memory until the end; that is no leak of ours.
      command = "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " + command +
                "mpirun --oversubscribe --bind-to none -np " + std::to_string(ranks) + " " + network + " ";
    }
    return shell(command + MOKUME_TEST_NODE + " " + scratch.path() + " " + arguments);
  }

  static std::string alone(const std::string& arguments) {
    const Scratch scratch;
    EXPECT_EQ(run(0, scratch, arguments).code, 0);
    return slurp(scratch.path() + "/results.txt");
  }
};

class MpirunTest : public Mpirun, public testing::WithParamInterface<const char*> {};
using MpirunOnceTest = Mpirun;

TEST_P(MpirunTest, AnyNumberOfRanksGivesTheSameBytes) {
  const std::string expected = alone("240");
  ASSERT_FALSE(expected.empty());
  for (const uint32_t ranks : {1u, 2u, 3u}) {
    const Scratch scratch;
    const Ended ended = run(ranks, scratch, "240", GetParam());
    ASSERT_EQ(ended.code, 0) << ended.output;
    EXPECT_EQ(slurp(scratch.path() + "/results.txt"), expected);
    std::istringstream nodes(slurp(scratch.path() + "/nodes.txt"));
    const std::set<std::string> took_part{std::istream_iterator<std::string>(nodes), {}};
    EXPECT_EQ(took_part.size(), ranks) << "every rank should have done some of the work";
    EXPECT_EQ(journal::read_all(scratch.path() + "/journal", make_plan(240)).records.size(), 240u);
  }
}

TEST_P(MpirunTest, CarriesMessagesOfAnySize) {
  const std::string expected = alone("24 large");
  const Scratch scratch;
  const Ended ended = run(2, scratch, "24 large", GetParam());
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), expected);
}

TEST_P(MpirunTest, AnErrorOnOneRankEndsAllAndTheNextRunGoesOn) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "240 throw", GetParam());
  EXPECT_EQ(ended.code, MK_BAD_DATA) << ended.output;
  for (const char* rank : {"rank 0: ", "rank 1: ", "rank 2: "}) {
    const size_t at = ended.output.find(std::string(rank) + "node 1: host:");
    EXPECT_NE(at, std::string::npos) << ended.output;
  }
  const Ended again = run(2, scratch, "240");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("240"));
}

TEST_F(MpirunOnceTest, RanksWithDifferentPlansAreRefused) {
  const Scratch scratch;
  const Ended ended = run(2, scratch, "24 plan");
  EXPECT_EQ(ended.code, MK_INVALID_ARGUMENT) << ended.output;
  EXPECT_NE(ended.output.find("node 1 derives another plan"), std::string::npos) << ended.output;
}

TEST_F(MpirunOnceTest, AStopOnOneRankStopsAllAndTheNextRunGoesOn) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "600 stop");
  EXPECT_EQ(ended.code, 75) << ended.output;
  EXPECT_LT(journal::read_all(scratch.path() + "/journal", make_plan(600)).records.size(), 600u);
  const Ended again = run(1, scratch, "600");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("600"));
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, MpirunTest, testing::Values(k_shared_memory));
INSTANTIATE_TEST_SUITE_P(Tcp, MpirunTest, testing::Values(k_tcp));

}  // namespace
}  // namespace mokume::cluster
