// Measures the speed of a device before a run, while nothing else runs. The speed decides where and when a fit runs,
// but never its result: speeds are not part of any choice, plan or result.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace mokume::device {

struct Speed {
  double gflops = 0;  // 10^9 additions and multiplications per second in a matrix product
  double gbytes = 0;  // 10^9 bytes read and written per second in a pass over a large array

  // A single number for the speed of the device; 0 if either value is unknown.
  double overall() const;
  bool operator==(const Speed&) const = default;
};

// Returns seconds from any origin; the default is the real clock.
using Clock = std::function<double()>;

// Takes up to about a second, plus the time to build the kernels of two ops. Call it on the thread that uses the
// device, with nothing else running on it. If the device does not support or hold a size, the smaller sizes count; 0
// means unknown.
Speed probe(Device& device, const Clock& clock = {});

// Reads earlier measurements from a cache directory ("" disables the cache). The key is the device class and, for
// devices that compute on cores of this process, the number of cores. An unreadable file counts as missing. A damaged
// file is set aside, and `warning` reports it.
std::optional<Speed> remembered_speed(const std::string& cache_directory, const Listed& device, size_t cores,
                                      std::string& warning);
void remember_speed(const std::string& cache_directory, const Listed& device, size_t cores, const Speed& speed);

// Lets one process of a host measure at a time. Waits up to `seconds` for its turn. Without a cache directory, every
// process proceeds at once.
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
