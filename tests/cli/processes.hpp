// Reads the state of other processes from /proc.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <thread>

#include "cli/shell.hpp"

namespace mokume::cli_test {

inline bool eventually(const std::function<bool()>& true_now) {
  for (int k = 0; k < 60000 && !true_now(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true_now();
}

inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code gone;
  const fs::path tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& task : fs::directory_iterator(tasks, gone)) {
    std::stringstream list(slurp(task.path() / "children"));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

// Returns whether a process is gone, or dead although its new parent has not reaped it yet.
inline bool is_dead(pid_t pid) {
  const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  const size_t name = stat.rfind(')');
  if (name == std::string::npos) return true;
  // The first thread of a killed process may be gone before the other threads are.
  std::error_code gone;
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task", gone);
  return gone || (stat.compare(name, 3, ") Z") == 0 && std::distance(begin(threads), end(threads)) <= 1);
}

}  // namespace mokume::cli_test
