// The bandwidth of the machine's memory with all cores at once: the floor of work that streams weights.
#pragma once

#include <memory>

namespace mokume::bench {

// Bytes a second.
struct Bandwidth {
  double read;    // one array read, as a forward pass reads weights
  double update;  // two arrays read and written in place, as a step does with weights and momentum; each byte counts
                  // twice, once in and once out
};

// Holds far more memory than any cache.
class BandwidthProbe {
 public:
  // Takes `bytes` of memory. Throws std::bad_alloc.
  explicit BandwidthProbe(double bytes);
  ~BandwidthProbe();
  BandwidthProbe(const BandwidthProbe&) = delete;
  BandwidthProbe& operator=(const BandwidthProbe&) = delete;

  // One pass of each kind on all cores this process may use; it takes some hundredths of a second.
  Bandwidth pass();

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace mokume::bench
