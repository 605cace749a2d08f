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

int64_t most_places(const mk_device_info& device, int64_t set) {
  constexpr int64_t kMost = 512, kMostOfGpu = 2048;
  if (device.kind != MK_DEVICE_GPU) return kMost;
  const auto in_buffer = static_cast<int64_t>(device.max_buffer_bytes / sizeof(float)) / (set * set);
  return std::clamp(in_buffer, int64_t{1}, kMostOfGpu);
}

int rounds_at_once(const mk_device_info& device, int64_t problems, int64_t rows, int64_t set) {
  // A round reads the rows of about half of each working set. Compute units read about 10 GB/s each from a card's
  // memory and caches, and all of them together 40 GB/s from the host's memory.
  const double bytes_per_second =
      (device.flags & MK_DEVICE_SHARED_MEMORY) != 0 ? 4e10 : 1e10 * std::max(1U, device.compute_units);
  constexpr double kSeconds = 0.05;
  constexpr int kMost = 16;
  const double bytes = sizeof(float) * double(problems) * double(rows) * double(set) / 2;
  return std::clamp(static_cast<int>(std::min<double>(kMost, kSeconds * bytes_per_second / bytes)), 1, kMost);
}

}  // namespace mokume::svc
