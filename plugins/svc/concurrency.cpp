#include "concurrency.hpp"

#include <algorithm>

namespace mokume::svc {

int64_t problems_at_once(const mk_device_info& device) {
  // Counts problems per compute unit, so that some compute while others wait. A GPU also hides the latency of its
  // memory.
  const int64_t per_unit = device.kind == MK_DEVICE_GPU ? 8 : 4;
  // Problems share the rows of a kernel matrix that exceeds the caches, so even small devices solve many at once.
  constexpr int64_t kFewest = 200;
  return std::max(kFewest, per_unit * int64_t{device.compute_units});
}

// A GPU has room for every C of a grid. Most steps are those of the largest C, where chains alone would not fill it.
int64_t most_ahead(const mk_device_info& device) { return device.kind == MK_DEVICE_GPU ? 32 : 8; }

int64_t coef_rows_per_fold(int64_t problems, int64_t places, int64_t ahead) {
  const int64_t running = std::min(places, ahead * problems);
  return std::max<int64_t>(32, (running + problems + 15) / 16 * 16);
}

int rounds_at_once(int64_t problems, int64_t rows, int64_t set) {
  // A round reads the rows of about half of each working set. Large GPUs read one or two TB/s from memory and caches.
  constexpr double kBytesPerSecond = 1.5e12, kSeconds = 0.05;
  constexpr int kMost = 16;
  const double bytes = sizeof(float) * double(problems) * double(rows) * double(set) / 2;
  return std::clamp(static_cast<int>(std::min<double>(kMost, kSeconds * kBytesPerSecond / bytes)), 1, kMost);
}

}  // namespace mokume::svc
