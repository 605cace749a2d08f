// How fast a device is, measured alone before a run. It decides where and when a fit runs, never what comes out: a
// speed is in no choice, no plan and no result.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace mokume::device {

struct Speed {
  double gflops = 0;  // 10^9 additions and multiplications a second, in a product of matrices
  double gbytes = 0;  // 10^9 bytes a second, read and written, in a pass over a large array

  // The number that stands for the device where one must do; 0 if either is unknown.
  double overall() const;
  bool operator==(const Speed&) const = default;
};

// Seconds on any axis; the real clock if none is given.
using Clock = std::function<double()>;

// Takes up to about a second, and building the two ops' kernels beside that. On the thread that uses the device, with
// nothing else running on it. What the device cannot do or hold is measured as far as it goes; unknown is 0.
Speed probe(Device& device, const Clock& clock = {});

// Speeds that were measured before, in a cache directory ("": there is none): by device class and, where the device
// computes on cores of this process, by how many of them. Files that cannot be read or written are as if not there.
std::optional<Speed> remembered_speed(const std::string& cache_directory, const Listed& device, size_t cores);
void remember_speed(const std::string& cache_directory, const Listed& device, size_t cores, const Speed& speed);

// One process of a host at a time has the turn to measure. Waits for it for up to `seconds`; without a cache directory
// everybody has it at once.
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
