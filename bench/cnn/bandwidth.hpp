// What the machine's memory gives all cores at once: the floor of what streams weights.
#pragma once

namespace mokume::bench {

// Bytes a second, the median of a few passes over far more memory than any cache holds.
struct Bandwidth {
  double read;    // one array read, as a forward pass reads weights
  double update;  // two arrays read and written in place, as a step does with weights and momentum; each byte counts
                  // twice, once in and once out
};

// Takes `bytes` of memory for some tenths of a second and all cores this process may use. Throws std::bad_alloc.
Bandwidth measure_bandwidth(double bytes);

}  // namespace mokume::bench
