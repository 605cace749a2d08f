// Starts a child process that communicates with its parent over a socket and never outlives the parent.
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
  std::string program;                   // path of the executable
  std::vector<std::string> arguments;    // process lists show the first one as the name
  std::vector<std::string> environment;  // entries of the form "NAME=value"
  // The Child calls this function on its own thread for each line that the child prints. The function must not throw.
  std::function<void(const std::string& line)> on_line;
};

// Controls the child from the parent's side. The child receives one end of a socket as descriptor kChildSocket and no
// other descriptor of the parent. The child blocks the signals that stop a run until it calls join_parent().
class Child {
 public:
  explicit Child(ChildSetup setup);  // throws Error(MK_DEVICE_ERROR) if the child cannot be started
  ~Child();                          // kills the child if it is still running, and waits for its end
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }  // the destructor closes the socket
  bool running() const;                   // false once the child has ended for any reason
  double cpu_seconds() const;             // processor time of all its threads, 0 after wait()
  void kill() noexcept;                   // sends SIGKILL; any thread may call this function
  // Waits for the child to end and for on_line to receive its last output. Returns "crashed (Segmentation fault)", "was
  // killed" or "ended with exit code 3". Only one thread at a time may call this function.
  std::string wait();

 private:
  void tend();
  void reap();

  ChildSetup setup_;
  int socket_ = -1;
  int output_ = -1;  // pipe with the child's output
  int wake_[2] = {-1, -1};
  pid_t pid_ = -1;
  mutable std::mutex mutex_;  // prevents signals to a process id that has been released
  std::optional<std::string> end_;
  // Starts the child and reads its output. The kernel kills the child when the thread that started it ends, so this
  // thread runs until the child has ended.
  std::thread tender_;
};

inline constexpr int kChildSocket = 3;

// The child calls this function before anything else. From then on, the child dies with `parent`, ignores the signals
// that stop a run (the parent also receives them and instructs the child), and does not pass kChildSocket on to other
// programs. Throws Error(MK_INVALID_ARGUMENT) if no Child started this process.
void join_parent(pid_t parent);

// Returns this process's environment without the variables that describe a rank's place in a job of an MPI launcher or
// Slurm. With these variables, a child would try to join the job.
std::vector<std::string> environment_without_launcher();

}  // namespace mokume::base
