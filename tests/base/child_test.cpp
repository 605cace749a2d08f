#include "base/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/frames.hpp"
#include "sdk/error.hpp"

namespace mokume::base {
namespace {

// Runs a shell as the child. `lines` holds its output once it has exited.
struct Shell {
  explicit Shell(const std::string& script, std::vector<std::string> environment = {})
      : child({"/bin/sh", {"sh", "-c", script}, std::move(environment), [this](const std::string& line) {
                 lines.push_back(line);
               }}) {}
  std::vector<std::string> lines;
  Child child;
};

using Lines = std::vector<std::string>;

TEST(Child, ReportsHowItExited) {
  EXPECT_EQ(Shell("exit 0").child.wait(), "ended with exit code 0");
  EXPECT_EQ(Shell("exit 3").child.wait(), "ended with exit code 3");
  EXPECT_EQ(Shell("kill -SEGV $$").child.wait(), "crashed (Segmentation fault)");
  EXPECT_EQ(Shell("kill -KILL $$").child.wait(), "was killed");
  Shell twice("exit 1");
  twice.child.wait();
  EXPECT_EQ(twice.child.wait(), "ended with exit code 1");
}

TEST(Child, AFailureToStartIsAnError) {
  try {
    Child({"/no/such/program", {"none"}, {}, {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
    EXPECT_NE(std::string(e.what()).find("/no/such/program (No such file"), std::string::npos) << e.what();
  }
}

TEST(Child, AllOutputLinesArriveBeforeTheExitIsReported) {
  Shell shell("echo out; echo error >&2; echo; printf 'last words'; kill -ABRT $$");
  EXPECT_EQ(shell.child.wait(), "crashed (Aborted)");
  EXPECT_EQ(shell.lines, (Lines{"out", "error", "last words"}));
}

TEST(Child, AnEndlessLineArrivesInPieces) {
  Shell shell("i=0; while [ $i -lt 100 ]; do printf '%0100d' 7; i=$((i+1)); done");
  shell.child.wait();
  size_t total = 0;
  for (const std::string& line : shell.lines) total += line.size();
  EXPECT_EQ(total, 10000U);
  EXPECT_EQ(shell.lines.size(), 3U);
}

TEST(Child, ALeftoverWriterDoesNotProlongTheWait) {
  Shell shell("sleep 600 & echo $!");
  EXPECT_EQ(shell.child.wait(), "ended with exit code 0");
  ASSERT_EQ(shell.lines.size(), 1U);
  ::kill(std::atoi(shell.lines[0].c_str()), SIGKILL);
}

TEST(Child, IsKilledByKillAndByTheDestructor) {
  pid_t pid = 0;
  {
    Shell shell("sleep 600 & wait");
    pid = shell.child.pid();
    EXPECT_TRUE(shell.child.running());
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);  // the system has freed the process id, too
  Shell shell("sleep 600 & wait");
  std::thread([&] { shell.child.kill(); }).join();
  EXPECT_EQ(shell.child.wait(), "was killed");
  EXPECT_FALSE(shell.child.running());
  shell.child.kill();
}

TEST(Child, TheExitIsNoticedWithoutAWait) {
  Shell shell("exit 0");
  while (shell.child.running()) std::this_thread::yield();
  EXPECT_EQ(shell.child.wait(), "ended with exit code 0");
}

TEST(Child, InheritsOnlyItsSocket) {
  // Libraries open files in this way, without O_CLOEXEC, so exec does not close them.
  const int open_file = open("/dev/null", O_RDONLY);
  const int high = fcntl(open_file, F_DUPFD, 100);
  Shell shell("ls /proc/$$/fd; printf '\\003\\000\\000\\000yes' >&3");
  EXPECT_EQ(receive_frame(shell.child.socket()), "yes");
  EXPECT_FALSE(receive_frame(shell.child.socket()).has_value());
  shell.child.wait();
  EXPECT_EQ(shell.lines, (Lines{"0", "1", "2", "3"}));
  close(high);
  close(open_file);
}

TEST(Child, IgnoresTheSignalsThatStopARun) {
  Shell shell("echo ready >&3; read -r word <&3; echo $word");
  char ready[6];
  ASSERT_EQ(read(shell.child.socket(), &ready[0], sizeof(ready)), 6);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) ::kill(shell.child.pid(), signal);
  ASSERT_EQ(write(shell.child.socket(), "alive\n", 6), 6);
  EXPECT_EQ(shell.child.wait(), "ended with exit code 0");
  EXPECT_EQ(shell.lines, Lines{"alive"});
}

TEST(Child, ReceivesTheGivenEnvironment) {
  Shell shell("env", {"A=1", "PATH=/usr/bin:/bin"});
  shell.child.wait();
  EXPECT_TRUE(std::find(shell.lines.begin(), shell.lines.end(), "A=1") != shell.lines.end());
  EXPECT_TRUE(std::none_of(shell.lines.begin(), shell.lines.end(),
                           [](const std::string& line) { return line.starts_with("HOME="); }));
}

TEST(ChildEnvironment, OmitsTheVariablesOfLaunchers) {
  const char* kNames[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",        "PMI_FD",
                          "SLURM_JOB_ID",         "MPI_LOCALRANKID",  "CUDA_VISIBLE_DEVICES",
                          "OCL_ICD_VENDORS",      "POCL_MEMORY_LIMIT"};
  for (const char* name : kNames) setenv(name, "7", 1);
  const auto kept = environment_without_launcher();
  for (const char* name : kNames) unsetenv(name);
  const auto has = [&](const std::string& text) { return std::find(kept.begin(), kept.end(), text) != kept.end(); };
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_FD", "SLURM_JOB_ID", "MPI_LOCALRANKID"})
    EXPECT_FALSE(has(std::string(name) + "=7")) << name;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "OCL_ICD_VENDORS", "POCL_MEMORY_LIMIT"})
    EXPECT_TRUE(has(std::string(name) + "=7")) << name;
  EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [](const std::string& v) { return v.starts_with("PATH="); }));
}

}  // namespace
}  // namespace mokume::base
