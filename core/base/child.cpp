#include "base/child.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string_view>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::base {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr size_t kMostLine = 4096;
constexpr size_t kMostLastWords = size_t{1} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

[[noreturn]] void no_child(const std::string& what, int code) {
  throw Error(MK_DEVICE_ERROR, fmt::format("cannot start a child process: {} ({})", what, strerror(code)));
}

// Moves the descriptor above the child's descriptors, so that posix_spawn does not overwrite it before copying it.
void move_up(Descriptor& descriptor) {
  constexpr int kFree = 16;
  const int moved = fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFree);
  if (moved < 0) no_child("no descriptor", errno);
  descriptor.reset(moved);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

// Returns 0 or an errno value.
int spawn(const ChildSetup& setup, int socket, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);  // drivers print to stdout and stderr
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, kChildSocket);
  posix_spawn_file_actions_addclosefrom_np(&actions, kChildSocket + 1);  // MPI has descriptors that exec does not close
  sigset_t blocked, usual;
  sigemptyset(&blocked);
  sigemptyset(&usual);
  for (const int signal : kStopSignals) sigaddset(&blocked, signal);
  for (const int signal : {SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  const int code = posix_spawn(&pid, setup.program.c_str(), &actions, &attributes, pointers(setup.arguments).data(),
                               pointers(setup.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

std::string describe(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return "was killed";
  if (WIFSIGNALED(status)) {
    const char* name = sigdescr_np(WTERMSIG(status));
    return fmt::format("crashed ({})", name != nullptr ? name : std::to_string(WTERMSIG(status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

// Splits the output into lines of at most kMostLine bytes.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& take) : take_(take) {}
  ~Lines() { end_line(); }

  void add(std::string_view text) {
    for (const char c : text) {
      if (c != '\n') line_ += c;
      if (c == '\n' || line_.size() >= kMostLine) end_line();
    }
  }

 private:
  void end_line() {
    if (!line_.empty() && take_) take_(line_);
    line_.clear();
  }

  const std::function<void(const std::string&)>& take_;
  std::string line_;
};

// Returns false once the output has ended or cannot be read.
bool read_output(int fd, Lines& lines, size_t& bytes) {
  std::array<char, 4096> part{};
  const ssize_t n = read(fd, part.data(), part.size());
  bytes = n > 0 ? static_cast<size_t>(n) : 0;
  lines.add({part.data(), bytes});
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Child::Child(ChildSetup setup) : setup_(std::move(setup)) {
  int sockets[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &sockets[0]) != 0) no_child("no socket", errno);
  Descriptor ours(sockets[0]), theirs(sockets[1]);
  if (pipe2(&pipes[0], O_CLOEXEC) != 0) no_child("no pipe", errno);
  Descriptor output(pipes[0]), words(pipes[1]);
  if (pipe2(&pipes[0], O_CLOEXEC) != 0) no_child("no pipe", errno);
  Descriptor wake_reader(pipes[0]), wake_writer(pipes[1]);
  move_up(theirs);
  move_up(words);
  fcntl(output.get(), F_SETFL, O_NONBLOCK);

  output_ = output.get();
  wake_[0] = wake_reader.get();
  wake_[1] = wake_writer.get();
  // The promise is shared, because it must outlive set_value() in the thread.
  const auto started = std::make_shared<std::promise<int>>();
  tender_ = std::thread([this, started, socket = theirs.get(), words_fd = words.get()] {
    const int code = spawn(setup_, socket, words_fd, pid_);
    started->set_value(code);
    if (code == 0) tend();
  });
  if (const int code = started->get_future().get(); code != 0) {
    tender_.join();
    no_child(setup_.program, code);
  }
  socket_ = ours.release();
  output.release();
  wake_reader.release();
  wake_writer.release();
}

Child::~Child() {
  kill();
  wait();
  for (const int fd : {socket_, output_, wake_[0], wake_[1]}) close(fd);
}

void Child::tend() {
  Lines lines(setup_.on_line);
  std::array<pollfd, 2> waits = {pollfd{output_, POLLIN, 0}, pollfd{wake_[0], POLLIN, 0}};
  size_t bytes = 0;
  while (waits[1].revents == 0) {
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0 && !read_output(output_, lines, bytes)) waits[0].fd = -1;
  }
  // The child has ended. The limit ends the loop even if a process that the child started keeps writing.
  size_t last_words = 0;
  while (waits[0].fd >= 0 && last_words < kMostLastWords && read_output(output_, lines, bytes) && bytes > 0)
    last_words += bytes;
}

double Child::cpu_seconds() const {
  const std::lock_guard lock(mutex_);
  clockid_t clock{};
  timespec used{};
  if (end_ || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

bool Child::running() const {
  const std::lock_guard lock(mutex_);
  siginfo_t info{};
  return !end_ && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0;
}

void Child::kill() noexcept {
  const std::lock_guard lock(mutex_);
  if (!end_) ::kill(pid_, SIGKILL);
}

void Child::reap() {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int status = 0;
  const bool known = waitpid(pid_, &status, 0) == pid_;  // waitpid() fails if SIGCHLD is ignored
  end_ = known ? describe(status) : "ended";
}

std::string Child::wait() {
  if (tender_.joinable()) {
    reap();
    const ssize_t written = write(wake_[1], "", 1);
    static_cast<void>(written);  // the write succeeds, because an empty pipe has room for a byte
    tender_.join();
  }
  return *end_;
}

void join_parent(pid_t parent) {
  struct stat about {};
  if (fstat(kChildSocket, &about) != 0 || !S_ISSOCK(about.st_mode))
    throw Error(MK_INVALID_ARGUMENT, "this command is internal to mokume, which starts it when it is needed");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent died before the prctl()
  fcntl(kChildSocket, F_SETFD, FD_CLOEXEC);
  for (const int signal : kStopSignals) ::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

std::vector<std::string> environment_without_launcher() {
  constexpr std::array<std::string_view, 10> kLauncher = {"OMPI_", "PMIX_", "PMI_",   "PRTE_",  "ORTE_",
                                                          "MPI_",  "OPAL_", "HYDRA_", "I_MPI_", "SLURM_"};
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool launcher = std::any_of(kLauncher.begin(), kLauncher.end(),
                                      [&](std::string_view start) { return text.starts_with(start); });
    if (!launcher) kept.emplace_back(text);
  }
  return kept;
}

}  // namespace mokume::base
