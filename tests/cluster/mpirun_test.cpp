// Tests real ranks under mpirun. MPI itself uses shared memory, or TCP on loopback as between two machines. The
// messages are the same in both cases.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "cluster/fixtures.hpp"
#include "journal/read.hpp"
#include "support/paths.hpp"

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

constexpr const char* kSharedMemory = "";
constexpr const char* kTcp = "--mca btl tcp,self --mca btl_tcp_if_include lo";

class Mpirun : public testing::Test {
 protected:
  void SetUp() override {
    const Ended version = shell("mpirun --version");
    if (version.output.find("Open MPI") == std::string::npos) {
      GTEST_SKIP() << "there is no mpirun of Open MPI here (package openmpi-bin)";
    }
  }

  // Runs the program as `ranks` ranks, or without a launcher if `ranks` is 0.
  static Ended run(uint32_t ranks, const Scratch& scratch, const std::string& arguments,
                   const std::string& network = kSharedMemory) {
    const std::string program =
        test::shell_word(test::build_directory() + "/bin/test_cluster_node") + " " + scratch.path() + " " + arguments;
    return ranks > 0 ? launch(ranks, network, program) : shell("timeout -k 5 100 " + program);
  }

  static constexpr int kSegmentationFault = 139;  // exit code of the shell if mpirun crashes

  static Ended launch(uint32_t ranks, const std::string& options, const std::string& program) {
    // Open MPI keeps memory until the process ends, which is not our leak.
    return shell(
        "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 100 mpirun "
        "--oversubscribe --bind-to none -np " +
        std::to_string(ranks) + " " + options + " " + program);
  }

  static std::string alone(const std::string& arguments) {
    const Scratch scratch;
    EXPECT_EQ(run(0, scratch, arguments).code, 0);
    return slurp(scratch.path() + "/results.txt");
  }
};

class MpirunTest : public Mpirun, public testing::WithParamInterface<const char*> {
 protected:
  static std::string recovering() { return std::string("--enable-recovery ") + GetParam(); }
};
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

// The transport for MPICH is a module of its own.
TEST(MpirunOfMpich, GivesTheSameBytes) {
  const bool built = std::ifstream(test::build_directory() + "/lib/mokume/transports/mpich.so").good();
  if (!built || shell("mpiexec.hydra --version").code != 0)
    GTEST_SKIP() << "MPICH is not installed here, or was not when mokume was built (packages mpich and libmpich-dev)";
  const std::string node = test::shell_word(test::build_directory() + "/bin/test_cluster_node") + " ";
  const Scratch one, three;
  ASSERT_EQ(shell(node + one.path() + " 240").code, 0);
  const Ended ended =
      shell("ASAN_OPTIONS=detect_leaks=0 timeout -k 5 100 mpiexec.hydra -n 3 " + node + three.path() + " 240");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(slurp(three.path() + "/results.txt"), slurp(one.path() + "/results.txt"));
  std::istringstream nodes(slurp(three.path() + "/nodes.txt"));
  const std::set<std::string> took_part{std::istream_iterator<std::string>(nodes), {}};
  EXPECT_EQ(took_part.size(), 3U);
}

TEST_P(MpirunTest, CarriesMessagesOfAnySize) {
  const std::string expected = alone("24 large");
  const Scratch scratch;
  const Ended ended = run(2, scratch, "24 large", GetParam());
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), expected);
}

TEST_P(MpirunTest, AnErrorOnOneRankStopsAllAndTheNextRunResumes) {
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
  EXPECT_NE(ended.output.find("node 1 derives a plan"), std::string::npos) << ended.output;
}

TEST_P(MpirunTest, ARankThatDiesCostsNothing) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "240 die-2", recovering());
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("240")) << ended.output;
  EXPECT_EQ(journal::read_all(scratch.path() + "/journal", make_plan(240)).records.size(), 240u);
}

TEST_P(MpirunTest, TheOthersStopWithoutRankZeroAndTheNextRunResumes) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "240 die-0", recovering());
  if (ended.code == kSegmentationFault) GTEST_SKIP() << "mpirun itself has crashed (docs/adr/0012)";
  for (const char* end : {"/end-1.txt", "/end-2.txt"})
    EXPECT_EQ(slurp(scratch.path() + end).rfind("node 0 died", 0), 0U) << end << "\n" << ended.output;
  const Ended again = run(2, scratch, "240", GetParam());
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("240"));
}

TEST_F(MpirunOnceTest, WithoutRecoveryADeadRankEndsTheRunAndTheNextResumes) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "240 die-1");
  EXPECT_NE(ended.code, 0) << ended.output;
  const Ended again = run(2, scratch, "240");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("240"));
}

TEST_F(MpirunOnceTest, AStopOnOneRankStopsAllAndTheNextRunResumes) {
  const Scratch scratch;
  const Ended ended = run(3, scratch, "600 stop");
  EXPECT_EQ(ended.code, 75) << ended.output;
  EXPECT_LT(journal::read_all(scratch.path() + "/journal", make_plan(600)).records.size(), 600u);
  const Ended again = run(1, scratch, "600");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(slurp(scratch.path() + "/results.txt"), alone("600"));
}

class MpirunDeathTest : public MpirunTest {
 protected:
  static Ended peers(uint32_t victim, const std::string& how) {
    const std::string arguments = std::to_string(victim) + " " + how;
    const std::string limit = how == "starting" ? "-x MOKUME_MPI_START_S=5 " : "";
    const Ended ended = launch(3, "--enable-recovery " + limit + GetParam(),
                               test::shell_word(test::build_directory() + "/bin/test_cluster_peers") + " " + arguments);
    EXPECT_EQ(ended.output.find("waits for ever"), std::string::npos) << how << "\n" << ended.output;
    EXPECT_TRUE(nobody_is_left(ended.output)) << how << "\n" << ended.output;
    return ended;
  }

  // Returns true even before the parent reaps the process, because the mpirun of Open MPI 5 leaves that to init.
  static bool is_gone(pid_t pid) {
    if (kill(pid, 0) != 0) return errno == ESRCH;
    const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");  // "PID (NAME) STATE ..."
    const size_t name_end = stat.rfind(") ");
    return name_end == std::string::npos || stat[name_end + 2] == 'Z';
  }

  static bool nobody_is_left(const std::string& output) {
    int ranks = 0;
    for (size_t at = output.find("pid "); at != std::string::npos; at = output.find("pid ", at + 1), ++ranks) {
      const pid_t pid = static_cast<pid_t>(std::strtol(output.c_str() + at + 4, nullptr, 10));
      if (pid <= 0 || !is_gone(pid)) return false;
    }
    return ranks == 3;
  }
};

TEST_P(MpirunDeathTest, TheOthersContinueAndFinish) {
  for (const char* how : {"idle", "sending", "owed"}) {
    const Ended ended = peers(2, how);
    EXPECT_EQ(ended.code, 0) << how << "\n" << ended.output;
    EXPECT_NE(ended.output.find("rank 0: lost 1 together 0"), std::string::npos) << how << "\n" << ended.output;
    EXPECT_NE(ended.output.find("rank 1: lost 0 together 0"), std::string::npos) << how << "\n" << ended.output;
  }
}

TEST_P(MpirunDeathTest, TheOthersStopWithoutRankZero) {
  for (const char* how : {"idle", "sending", "owed", "receiving"}) {
    const Ended ended = peers(0, how);
    for (const char* end : {"rank 1: lost 1 together 0", "rank 2: lost 1 together 0"}) {
      EXPECT_NE(ended.output.find(end), std::string::npos) << how << "\n" << ended.output;
    }
  }
}

TEST_P(MpirunDeathTest, NoRankWaitsForARankThatDiesDuringTheShutdown) {
  const Ended other = peers(2, "parting");
  for (const char* end : {"rank 0: ", "rank 1: lost 0 together 0"}) {
    EXPECT_NE(other.output.find(end), std::string::npos) << other.output;
  }
  EXPECT_EQ(other.output.find("together 1"), std::string::npos) << other.output;
  const Ended zero = peers(0, "parting");
  for (const char* end : {"rank 1: ", "rank 2: "}) EXPECT_NE(zero.output.find(end), std::string::npos) << zero.output;
  EXPECT_EQ(zero.output.find("together 1"), std::string::npos) << zero.output;
}

TEST_P(MpirunDeathTest, NoRankWaitsForARankThatDiesBeforeMpiHasStarted) {
  const Ended ended = peers(2, "starting");
  EXPECT_NE(ended.output.find("MPI has not started within 5 s"), std::string::npos) << ended.output;
}

TEST_P(MpirunDeathTest, ARankThatSendsAgainIsNotLost) {
  const Ended ended = peers(2, "away");
  EXPECT_EQ(ended.code, 0) << ended.output;
  for (const char* line : {"forgot 2: lost 1", "heard 2: lost 0", "rank 0: lost 0 together 1"}) {
    EXPECT_NE(ended.output.find(line), std::string::npos) << ended.output;
  }
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, MpirunDeathTest, testing::Values(kSharedMemory));
INSTANTIATE_TEST_SUITE_P(Tcp, MpirunDeathTest, testing::Values(kTcp));
INSTANTIATE_TEST_SUITE_P(SharedMemory, MpirunTest, testing::Values(kSharedMemory));
INSTANTIATE_TEST_SUITE_P(Tcp, MpirunTest, testing::Values(kTcp));

}  // namespace
}  // namespace mokume::cluster
