// Measures the memory bandwidth of the machine with all cores at once. This bandwidth limits work that streams weights.
#pragma once

#include <memory>

namespace mokume::bench {

// Holds rates in bytes per second.
struct Bandwidth {
  double read;  // rate of a pass that reads one array, as a forward pass reads weights
  // The rate of a pass that reads and writes two arrays in place, as a step does with weights and momentum. Each byte
  // counts twice: once when it is read and once when it is written.
  double update;
};

class BandwidthProbe {
 public:
  // Allocates `bytes` of memory. Throws std::bad_alloc.
  explicit BandwidthProbe(double bytes);
  ~BandwidthProbe();
  BandwidthProbe(const BandwidthProbe&) = delete;
  BandwidthProbe& operator=(const BandwidthProbe&) = delete;

  // Makes one pass of each kind on all cores that this process may use. A pass takes a few hundredths of a second.
  Bandwidth pass();

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace mokume::bench
