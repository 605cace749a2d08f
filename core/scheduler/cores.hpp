// Which cores this process and its threads run on. Threads inherit the cores of the thread that starts them, so what is
// set before a driver or a worker thread starts holds for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::scheduler {

// Cores that the calling thread may run on; the hyper-threads of a core, and the cores of a processor, beside each
// other. Empty if the system does not say. `root` is put before /sys.
std::vector<uint32_t> allowed_core_list(const std::string& root = "");

// The calling thread and those it starts from now on run on `cores` only. Nothing happens for an empty list.
// Error(MK_INTERNAL) if the system refuses, naming the cores.
void run_on(const std::vector<uint32_t>& cores);

// The same until the end of scope.
class OnCores {
 public:
  explicit OnCores(const std::vector<uint32_t>& cores);
  ~OnCores();
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;

 private:
  std::vector<uint32_t> before_;
};

// "0-3,8"
std::string core_text(std::vector<uint32_t> cores);

}  // namespace mokume::scheduler
