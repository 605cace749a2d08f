#include "cluster/directory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cluster/fixtures.hpp"
#include "cluster/transport/launcher.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

const std::atomic<bool> kGoOn{false};
constexpr std::chrono::milliseconds kAtOnce(0);

TEST(Mark, IsSeenOnlyWhereItWasPut) {
  const Scratch here, elsewhere;
  std::string name;
  {
    const Mark mark(here.path());
    name = mark.name();
    EXPECT_TRUE(sees_mark(here.path(), name, kAtOnce, kGoOn));
    EXPECT_FALSE(sees_mark(elsewhere.path(), name, kAtOnce, kGoOn));
    std::ofstream(elsewhere.path() + "/" + name) << "somebody else's";
    EXPECT_FALSE(sees_mark(elsewhere.path(), name, kAtOnce, kGoOn));
    const Mark other(here.path());
    EXPECT_NE(other.name(), name);
  }
  EXPECT_TRUE(std::filesystem::is_empty(here.path()));
}

TEST(Mark, WaitingForItCanBeStopped) {
  const Scratch here;
  const std::atomic<bool> stop{true};
  EXPECT_THROW(sees_mark(here.path(), "none", std::chrono::hours(1), stop), Error);
}

TEST(Mark, CannotBeLeftInAMissingDirectory) {
  try {
    Mark("/nowhere/at/all");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    EXPECT_NE(std::string(e.what()).find("choose another directory with --out"), std::string::npos) << e.what();
  }
}

TEST(Directory, NamesItsFileSystem) {
  EXPECT_EQ(file_system_of("/proc"), "0x9fa0");
  EXPECT_NE(file_system_of("/nowhere/at/all"), "unknown") << "the nearest that exists counts";
}

TEST(Directory, IsTimedAndLeftUnchanged) {
  const Scratch here;
  EXPECT_GT(sync_seconds(here.path()), 0);
  EXPECT_TRUE(std::filesystem::is_empty(here.path()));
  EXPECT_THROW(sync_seconds(here.path() + "/none"), Error);
}

TEST(Host, IsIdentifiedByNameAndBoot) {
  EXPECT_EQ(host_identity(), host_identity());
  EXPECT_EQ(host_identity().substr(0, host_identity().find(' ')), host_name());
}

TEST(Launcher, TheLauncherOfMpichNeedsItsOwnTransport) {
  const std::vector<std::string> both = {"mpi", "mpich"};
  EXPECT_EQ(transport_of_launcher(both), "mpi");
  setenv("PMI_RANK", "0", 1);
  EXPECT_EQ(transport_of_launcher(both), "mpich");
  EXPECT_EQ(transport_of_launcher({"mpi"}), "mpi");
  setenv("PMIX_RANK", "0", 1);
  EXPECT_EQ(transport_of_launcher(both), "mpi");
  unsetenv("PMIX_RANK");
  setenv("SLURM_STEP_ID", "0", 1);
  EXPECT_EQ(transport_of_launcher(both), "mpi") << "srun --mpi=pmi2 may start any MPI";
  setenv("MOKUME_MPI", "mpich", 1);
  EXPECT_EQ(transport_of_launcher(both), "mpich");
  unsetenv("MOKUME_MPI");
  unsetenv("SLURM_STEP_ID");
  setenv("PMI_SIZE", "2", 1);
  EXPECT_NO_THROW(check_launcher(2));
  EXPECT_THROW(check_launcher(1), Error) << "each rank would run alone";
  unsetenv("PMI_SIZE");
  unsetenv("PMI_RANK");
}

TEST(Launcher, ATaskOfAPlainSrunIsRefused) {
  setenv("SLURM_NTASKS", "4", 1);  // a batch script has this variable, too
  EXPECT_NO_THROW(check_launcher(1));
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_NO_THROW(check_launcher(4));
  try {
    check_launcher(1);
    ADD_FAILURE() << "went on alone";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("srun --mpi=pmix"), std::string::npos) << error.what();
  }
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_NO_THROW(check_launcher(1));
  unsetenv("SLURM_STEP_NUM_TASKS");
  unsetenv("SLURM_NTASKS");
}

}  // namespace
}  // namespace mokume::cluster
