// A child process that never outlives its parent and communicates with it over a socket.
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
  std::vector<std::string> arguments;    // the first one appears in process lists as the name
  std::vector<std::string> environment;  // "NAME=value"
  // Called for each line on the child's standard output or error, on a thread of the Child. Must not throw.
  std::function<void(const std::string& line)> on_line;
};

// The parent's side. The child gets one end of a socket as descriptor kChildSocket and inherits no other descriptor.
// The signals that stop a run are blocked in it until join_parent().
class Child {
 public:
  explicit Child(ChildSetup setup);  // throws Error(MK_DEVICE_ERROR) if it cannot be started
  ~Child();                          // kills the child if it is still running, and waits for its end
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }  // closed with the Child
  bool running() const;                   // false once it has ended for any reason
  double cpu_seconds() const;             // processor time of all its threads; 0 once it has ended
  void kill() noexcept;                   // sends SIGKILL; callable from any thread
  // Waits for the child to end and for on_line to receive its last output. Returns "crashed (Segmentation fault)", "was
  // killed" or "ended with exit code 3". Call it from one thread at a time.
  std::string wait();

 private:
  void tend();
  void reap();

  ChildSetup setup_;
  int socket_ = -1;
  int output_ = -1;  // the child's output
  int wake_[2] = {-1, -1};
  pid_t pid_ = -1;
  mutable std::mutex mutex_;  // ensures that no signal goes to a process id already released
  std::optional<std::string> end_;
  // Starts the child and reads its output. The kernel kills the child when the thread that started it ends, so this
  // thread stays until the child is gone.
  std::thread tender_;
};

inline constexpr int kChildSocket = 3;

// Runs on the child's side, before anything else. From then on, the child dies with `parent`, ignores the signals that
// stop a run (the parent receives them too and instructs the child), and has sole use of kChildSocket. Throws
// Error(MK_INVALID_ARGUMENT) if the process was not started by a Child.
void join_parent(pid_t parent);

// Returns this process's environment without the variables that describe a rank's place in a job of an MPI launcher or
// Slurm. With these variables, a child would try to join the job.
std::vector<std::string> environment_without_launcher();

}  // namespace mokume::base
