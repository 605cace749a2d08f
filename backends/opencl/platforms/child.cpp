#include "platforms/child.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "sdk/error.hpp"

namespace mokume::opencl {
namespace {

using Clock = std::chrono::steady_clock;

struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::string& program, const std::vector<std::string>& given,
            const std::vector<std::string>& variables, int output) {
  const std::vector<char*> environment = pointers_to(variables);
  std::vector<char*> arguments = pointers_to(given);
  arguments.insert(arguments.begin(), const_cast<char*>(program.c_str()));

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // Users need not see what drivers print on standard error when they start.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int code = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    throw Error(MK_DEVICE_ERROR, "cannot start " + program + " (" + strerror(code) + "): install mokume again");
  return child;
}

// Reads to the end of the file. Returns false after a timeout.
bool drain(int fd, Clock::time_point deadline, std::string& output) {
  constexpr size_t kMost = size_t{1} << 20;
  std::array<char, 4096> part{};
  while (output.size() < kMost) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t n = read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    output.append(part.data(), static_cast<size_t>(n));
  }
  return true;
}

// Waits for the child and sets its exit status. A child that has closed its output has until the deadline to exit.
bool reap(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child) return true;
    if (done < 0 && errno != EINTR) {  // SIGCHLD is ignored, so no status is available
      status = 0;
      return true;
    }
    if (Clock::now() >= deadline) return false;
    usleep(500);
  }
}

}  // namespace

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& variables, int timeout_s) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(MK_DEVICE_ERROR, std::string("cannot make a pipe: ") + strerror(errno));
  const Descriptor reader{ends[0]};
  Descriptor writer{ends[1]};
  const pid_t child = spawn(program, arguments, variables, writer.fd);
  writer.reset();

  ChildResult result;
  const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);
  int status = 0;
  if (!drain(reader.fd, deadline, result.output) || !reap(child, deadline, status)) {
    kill(child, SIGKILL);
    reap(child, Clock::now() + std::chrono::seconds(1), status);  // a child that sleeps in its driver may never exit
    result.problem = "did not answer within " + std::to_string(timeout_s) + " s";
  } else if (WIFSIGNALED(status)) {
    result.problem = std::string("crashed (") + strsignal(WTERMSIG(status)) + ")";
  } else if (WEXITSTATUS(status) != 0) {
    result.problem = "failed with exit code " + std::to_string(WEXITSTATUS(status));
  }
  return result;
}

}  // namespace mokume::opencl
