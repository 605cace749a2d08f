// Measures the speed of a device before a run, while nothing else runs. The speed decides where and when a fit runs,
// but it affects no result, because no choice, plan or result contains a speed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace mokume::device {

struct Speed {
  double gflops = 0;  // 10^9 additions and multiplications per second in a matrix product
  double gbytes = 0;  // 10^9 bytes read and written per second in a pass over a large array

  // Returns the geometric mean of both values, as a single number for the speed. It is 0 if either value is unknown.
  double overall() const;
  bool operator==(const Speed&) const = default;
};

// Returns seconds since an arbitrary moment. An empty function stands for the real clock.
using Clock = std::function<double()>;

// Measures both values, on the thread that uses the device; nothing else may run on the device. Takes about a second at
// most, plus the time to build the kernels of two ops. If the device does not support or cannot hold a size, the next
// smaller size counts. A value is 0 if no size works.
Speed probe(Device& device, const Clock& clock = {});

// Read and write measurements in a cache directory, unless it is "". The key is the device class and, for devices that
// compute on the cores of this process, the number of cores. remembered_speed() sets aside a file that it cannot read,
// and reports the file in `warning`. remember_speed() ignores errors.
std::optional<Speed> remembered_speed(const std::string& cache_directory, const Listed& device, size_t cores,
                                      std::string& warning);
void remember_speed(const std::string& cache_directory, const Listed& device, size_t cores, const Speed& speed);

// Lets one process of a host measure at a time. The constructor waits for its turn, but not longer than `seconds`.
// Without a cache directory, it does not wait.
class ProbeTurn {
 public:
  ProbeTurn(const std::string& cache_directory, const std::string& host, double seconds);
  ~ProbeTurn();
  ProbeTurn(const ProbeTurn&) = delete;
  ProbeTurn& operator=(const ProbeTurn&) = delete;
  bool taken() const { return taken_; }

 private:
  int file_ = -1;
  bool taken_ = false;
};

}  // namespace mokume::device
