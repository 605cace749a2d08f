// A child process that is talked to over a socket, and that never outlives its parent.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mokume::base {

struct ChildSetup {
  std::string program;                   // path
  std::vector<std::string> arguments;    // the first is what it is called in lists of processes
  std::vector<std::string> environment;  // "NAME=value"
  // Gets each line that the child writes on its standard error or output, on a thread of the Child; must not throw.
  std::function<void(const std::string& line)> on_line;
};

// The parent's side. The child has one end of a socket as descriptor kChildSocket and inherits nothing else; the
// signals that ask a run to stop are blocked in it until join_parent().
class Child {
 public:
  explicit Child(ChildSetup setup);  // Error(MK_DEVICE_ERROR) if it cannot be started
  ~Child();                          // kills what still runs, and waits for its end
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }  // owned; closed with the Child
  bool running() const;                   // false from its end on, also if nobody asked for that
  void kill() noexcept;                   // SIGKILL; from any thread
  // Waits for its end, and until on_line has had its last words. "crashed (Segmentation fault)", "was killed", "ended
  // with exit code 3". By one thread at a time.
  std::string wait();

 private:
  void tend();
  void reap();

  ChildSetup setup_;
  int socket_ = -1;
  int output_ = -1;  // what the child writes
  int wake_[2] = {-1, -1};
  pid_t pid_ = -1;
  mutable std::mutex mutex_;  // nobody signals a process id that is given back
  std::optional<std::string> end_;
  // Starts the child and reads what it writes. The kernel ends the child with the thread that started it, so this one
  // stays until the child is gone.
  std::thread tender_;
};

inline constexpr int kChildSocket = 3;

// The child's side, before it does anything else: from here on it ends with `parent`, ignores the signals that ask a
// run to stop (its parent hears them too, and tells it what to do), and has kChildSocket for itself.
// Error(MK_INVALID_ARGUMENT) if it was not started by a Child.
void join_parent(pid_t parent);

// This process's environment without what MPI launchers and Slurm tell a rank about its place in a job: a child that
// believed it would try to join.
std::vector<std::string> environment_without_launcher();

}  // namespace mokume::base
