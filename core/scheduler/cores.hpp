// Restricts the cores on which this process and its threads run. A thread inherits the cores of the thread that starts
// it, so cores set before a driver or worker thread starts also apply to that thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::scheduler {

// Returns the cores on which the calling thread may run, ordered so that the hyper-threads of a core and the cores of a
// processor are adjacent, or nothing if the system does not report them. `root` is the prefix of /sys.
std::vector<uint32_t> allowed_core_list(const std::string& root = "");

// Restricts the calling thread, and threads that it starts later, to `cores`. An empty list changes nothing. Throws
// Error(MK_INTERNAL) that names the cores if the system refuses.
void run_on(const std::vector<uint32_t>& cores);

// Restricts the thread in the same way until the end of the scope.
class OnCores {
 public:
  explicit OnCores(const std::vector<uint32_t>& cores);
  ~OnCores();
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;

 private:
  std::vector<uint32_t> before_;
};

// Returns a text such as "0-3,8".
std::string core_text(std::vector<uint32_t> cores);

}  // namespace mokume::scheduler
